#include "text/models/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "text/unicode/byte_level.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Tokens = std::vector<std::string>;
using Merges = std::vector<std::pair<std::string, std::string>>;

struct Definition {
  Tokens vocabulary;
  Merges merges;
  BpeOptions options;

  // `words_are_bytes` tokens are given as bytes.
  Bpe Make() const {
    Vocabulary tokens("file");
    for (size_t id = 0; id < vocabulary.size(); ++id) {
      tokens.Add(Spelled(vocabulary[id]), static_cast<int64_t>(id));
    }
    Tokens spelled;  // left and right parts in turn
    for (const auto& [left, right] : merges) {
      spelled.push_back(Spelled(left));
      spelled.push_back(Spelled(right));
    }
    std::vector<MergeNames> names;
    for (size_t i = 0; i < spelled.size(); i += 2) names.push_back({spelled[i], spelled[i + 1]});
    return Bpe(tokens, names, options, "file");
  }
  std::string Spelled(const std::string& token) const {
    std::string spelled;
    if (!options.words_are_bytes) return token;
    AppendByteLevel(token, &spelled);
    return spelled;
  }
  int32_t IdOf(const std::string& token) const {
    const auto found = std::find(vocabulary.begin(), vocabulary.end(), token);
    return found == vocabulary.end() ? -1 : static_cast<int32_t>(found - vocabulary.begin());
  }
};

std::vector<int32_t> Ids(const Bpe& model, const Tokens& words, size_t max_ids = 1'000'000) {
  std::string bytes;
  for (const std::string& word : words) bytes += word;
  bytes.append(kWordPadding, '\xFF');
  std::vector<std::string_view> views;
  size_t start = 0;
  for (const std::string& word : words) {
    views.push_back(std::string_view(bytes).substr(start, word.size()));
    start += word.size();
  }
  WordCache cache;
  std::vector<int32_t> ids;
  model.Tokenize(views, max_ids, &cache, &ids);
  return ids;
}

// BPE by its definition, for words of ASCII letters: merges the first pair of the lowest rank,
// again and again. Token 0 is the unknown one.
std::vector<int32_t> Reference(const Definition& d, const std::string& word) {
  const BpeOptions& options = d.options;
  if (options.ignore_merges && d.IdOf(word) >= 0) return {d.IdOf(word)};
  Tokens symbols;
  for (size_t i = 0; i < word.size(); ++i) {
    std::string symbol = (i > 0 ? options.continuing_subword_prefix : "") + word[i] +
                         (i + 1 == word.size() ? options.end_of_word_suffix : "");
    const bool known = d.IdOf(symbol) >= 0;
    if (!known && options.fuse_unk && !symbols.empty() && symbols.back() == options.unk_token) {
      continue;
    }
    symbols.push_back(known ? symbol : options.unk_token);
  }
  const size_t prefix = options.continuing_subword_prefix.size();
  for (;;) {
    size_t best = d.merges.size(), place = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto pair = std::pair(symbols[i], symbols[i + 1]);
      const auto rank = static_cast<size_t>(
          std::find(d.merges.rbegin(), d.merges.rend(), pair).base() - d.merges.begin());
      if (rank > 0 && rank - 1 < best) {
        best = rank - 1;
        place = i;
      }
    }
    if (best == d.merges.size()) break;
    symbols[place] += symbols[place + 1].substr(prefix);
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& symbol : symbols) ids.push_back(d.IdOf(symbol));
  return ids;
}

// A vocabulary over "abc", where "c" may be unknown, and merges of tokens that are there already.
Definition AnyDefinition() {
  Definition d;
  d.options.unk_token = "<unk>";
  d.options.fuse_unk = *rc::gen::arbitrary<bool>();
  d.options.ignore_merges = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) d.options.continuing_subword_prefix = "##";
  if (*rc::gen::arbitrary<bool>()) d.options.end_of_word_suffix = "</w>";
  const std::string& prefix = d.options.continuing_subword_prefix;
  d.vocabulary = {"<unk>"};
  const auto add = [&](const std::string& token) {
    if (d.IdOf(token) < 0) d.vocabulary.push_back(token);
  };
  const std::string letters = *rc::gen::arbitrary<bool>() ? "ab" : "abc";
  for (const char letter : letters) {
    for (const std::string& before : {std::string(), prefix}) {
      add(before + letter);
      add(before + letter + d.options.end_of_word_suffix);
    }
  }
  const int count = *rc::gen::inRange(0, 25);
  for (int i = 0; i < count; ++i) {
    const auto any = [&] {
      return d.vocabulary[*rc::gen::inRange<size_t>(0, d.vocabulary.size())];
    };
    const std::string left = any(), right = any();
    const bool ends =
        left.ends_with(d.options.end_of_word_suffix) && !d.options.end_of_word_suffix.empty();
    if (!right.starts_with(prefix) || right.size() == prefix.size() || ends) continue;
    d.merges.emplace_back(left, right);
    add(left + right.substr(prefix.size()));
  }
  return d;
}

RC_GTEST_PROP(Bpe, EqualsItsDefinition, ()) {
  const Definition d = AnyDefinition();
  const Bpe model = d.Make();
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc")));
  Tokens words = *rc::gen::container<Tokens>(rc::gen::nonEmpty(word));
  // Longer than what is searched without a heap.
  words.push_back(*rc::gen::container<std::string>(160, rc::gen::elementOf(std::string("abc"))));
  words.insert(words.end(), words.begin(), words.end());  // the second time from the cache
  std::vector<int32_t> expected;
  for (const std::string& one : words) {
    const auto ids = Reference(d, one);
    expected.insert(expected.end(), ids.begin(), ids.end());
  }
  RC_ASSERT(Ids(model, words) == expected);
}

// Words of bytes and a vocabulary in byte-level characters give what characters give.
RC_GTEST_PROP(Bpe, BytesAreMergedAsCharactersAre, ()) {
  Definition d = AnyDefinition();
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab")));
  const Tokens words = *rc::gen::container<Tokens>(rc::gen::nonEmpty(word));
  const std::vector<int32_t> expected = Ids(d.Make(), words);
  d.options.words_are_bytes = true;
  RC_ASSERT(Ids(d.Make(), words) == expected);
}

TEST(Bpe, BytesOfACharacterMergeOneByOne) {
  const Definition d{.vocabulary = {"\xC3", "\xA9", " ", "\xC3\xA9", " \xC3\xA9"},
                     .merges = {{"\xC3", "\xA9"}, {" ", "\xC3\xA9"}},
                     .options = {.words_are_bytes = true}};
  EXPECT_THAT(Ids(d.Make(), {"\u00e9", " \u00e9", "\u00e8"}), ElementsAre(3, 4, 0));
}

TEST(Bpe, UnknownCharacters) {
  Definition d{.vocabulary = {"<unk>", "a"}, .merges = {}, .options = {}};
  EXPECT_THAT(Ids(d.Make(), {"\u4e2da\u4e2d\u4e2d"}), ElementsAre(1));
  d.options.unk_token = "<unk>";
  EXPECT_THAT(Ids(d.Make(), {"\u4e2da\u4e2d\u4e2d"}), ElementsAre(0, 1, 0, 0));
  d.options.fuse_unk = true;
  EXPECT_THAT(Ids(d.Make(), {"\u4e2da\u4e2d\u4e2d"}), ElementsAre(0, 1, 0));
}

TEST(Bpe, ByteFallback) {
  Definition d{.vocabulary = {"<unk>", "a", "<0xC3>", "<0xA9>", "<0x0A>"},
               .merges = {},
               .options = {.unk_token = "<unk>", .fuse_unk = true, .byte_fallback = true}};
  EXPECT_THAT(Ids(d.Make(), {"a\u00e9\n"}), ElementsAre(1, 2, 3, 4));
  // All bytes of a character must have tokens: U+00E8 has only its first.
  EXPECT_THAT(Ids(d.Make(), {"a\u00e8"}), ElementsAre(1, 0));
  // The tokens of bytes come before an unknown token that could still grow, as in the package.
  EXPECT_THAT(Ids(d.Make(), {"\u00e8\u00e9\u00e8a"}), ElementsAre(2, 3, 0, 1));
}

// What a character is called inside of a word or at its end is spelled in bytes too. The ids are
// those of the `tokenizers` package (0.23.3).
TEST(Bpe, ByteFallbackSpellsPrefixAndSuffix) {
  Definition d{.vocabulary = {"<unk>", "a", "<0xC3>", "<0xA9>", "<0x3C>", "<0x2F>", "<0x77>",
                              "<0x3E>", "<0x23>", "##a", "a</w>", "##a</w>"},
               .merges = {},
               .options = {.unk_token = "<unk>", .byte_fallback = true}};
  d.options.end_of_word_suffix = "</w>";
  EXPECT_THAT(Ids(d.Make(), {"a\u00e9"}), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Ids(d.Make(), {"\u00e9a"}), ElementsAre(2, 3, 10));
  d.options.continuing_subword_prefix = "##";
  EXPECT_THAT(Ids(d.Make(), {"a\u00e9"}), ElementsAre(1, 8, 8, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Ids(d.Make(), {"\u00e9a"}), ElementsAre(2, 3, 11));
  EXPECT_THAT(Ids(d.Make(), {"\u00e9"}), ElementsAre(2, 3, 4, 5, 6, 7));
  d.options.end_of_word_suffix = "";
  EXPECT_THAT(Ids(d.Make(), {"a\u00e9a"}), ElementsAre(1, 8, 8, 2, 3, 9));
  // Where the suffix has a byte without a token, the character is unknown.
  d = {.vocabulary = {"<unk>", "a", "<0xC3>", "<0xA9>"},
       .merges = {},
       .options = {.unk_token = "<unk>", .end_of_word_suffix = "</w>", .byte_fallback = true}};
  EXPECT_THAT(Ids(d.Make(), {"\u00e9\u00e9"}), ElementsAre(2, 3, 0));
}

// Byte tokens can merge, and what they spell is not what they stand for.
TEST(Bpe, BytesMergeAcrossABoundary) {
  const Definition d{.vocabulary = {"<unk>", "\u2581", "<0x0A>", "<0x0A>\u2581", "a"},
                     .merges = {{"<0x0A>", "\u2581"}},
                     .options = {.unk_token = "<unk>", .byte_fallback = true}};
  EXPECT_THAT(Ids(d.Make(), {"a\n\u2581a\u2581"}), ElementsAre(4, 3, 4, 1));
}

// The unknown token can merge across a boundary, too.
TEST(Bpe, TheUnknownTokenMergesAcrossABoundary) {
  const Definition d{.vocabulary = {"<unk>", "\u2581", "<unk>\u2581", "a"},
                     .merges = {{"<unk>", "\u2581"}},
                     .options = {.unk_token = "<unk>"}};
  EXPECT_THAT(Ids(d.Make(), {"ax\u2581a\u2581"}), ElementsAre(3, 2, 3, 1));
}

// A text that Metaspace leaves one word is cut before U+2581 where no merge can join.
TEST(Bpe, PartsOfAWordDoNotShow) {
  const Definition d{
      .vocabulary = {"<unk>", "\u2581", "a", "b", "\u2581a", "a\u2581", "b\u2581a", "\u2581\u2581"},
      .merges = {{"\u2581", "\u2581"}, {"\u2581", "a"}, {"b", "\u2581a"}},
      .options = {.unk_token = "<unk>"}};
  const Bpe model = d.Make();
  EXPECT_THAT(Ids(model, {"a\u2581ab\u2581a\u2581\u2581\u2581a\u2581b"}),
              ElementsAre(2, 4, 6, 7, 4, 1, 3));
  EXPECT_THAT(Ids(model, {"a\u2581aa\u2581a"}, 1), ElementsAre(2, 4, 2));  // stops at the limit
}

TEST(Bpe, OfTwoEqualMergesTheLaterCounts) {
  const Definition d{.vocabulary = {"a", "b", "c", "ab", "bc"},
                     .merges = {{"a", "b"}, {"b", "c"}, {"a", "b"}},
                     .options = {}};
  EXPECT_THAT(Ids(d.Make(), {"abc"}), ElementsAre(0, 4));
}

TEST(Bpe, IgnoredMerges) {
  Definition d{.vocabulary = {"a", "b", "ab", "abab"}, .merges = {{"a", "b"}}, .options = {}};
  EXPECT_THAT(Ids(d.Make(), {"abab"}), ElementsAre(2, 2));
  d.options.ignore_merges = true;
  EXPECT_THAT(Ids(d.Make(), {"abab", "ababab"}), ElementsAre(3, 2, 2, 2));
  d.options.words_are_bytes = true;
  EXPECT_THAT(Ids(d.Make(), {"abab", "ababab"}), ElementsAre(3, 2, 2, 2));
}

TEST(Bpe, IgnoredMergesOfBytesThatAreSpelledOtherwise) {
  const Definition d{.vocabulary = {" ", "a", " aa"},
                     .merges = {},
                     .options = {.ignore_merges = true, .words_are_bytes = true}};
  EXPECT_THAT(Ids(d.Make(), {" aa", " a"}), ElementsAre(2, 0, 1));
}

TEST(Bpe, FindsTokensAsTheVocabularySpellsThem) {
  const Definition d{.vocabulary = {" a", "b"}, .merges = {}, .options = {.words_are_bytes = true}};
  const Bpe model = d.Make();
  EXPECT_EQ(model.Find("\u0120a"), 0);
  EXPECT_EQ(model.Find(" a"), -1);
  EXPECT_EQ(model.Find(""), -1);
}

// Each level of merges halves the word: all the work of a long word, in time that grows with it.
TEST(Bpe, AMillionLetters) {
  Definition d{.vocabulary = {"a"}, .merges = {}, .options = {}};
  for (size_t length = 1; length < 256; length *= 2) {
    d.merges.emplace_back(std::string(length, 'a'), std::string(length, 'a'));
    d.vocabulary.push_back(std::string(2 * length, 'a'));
  }
  const Bpe model = d.Make();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<int32_t> ids = Ids(model, {std::string(1'000'000, 'a')});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(ids.size(), 1'000'000U / 256 + 1);  // 3,906 of 256, and 64
  EXPECT_EQ(ids.back(), 6);
  EXPECT_LT(took.count(), 30) << "quadratic time would be hours";
}

void ExpectError(const Definition& definition, const std::string& message) {
  try {
    definition.Make();
    FAIL() << "accepted; expected: " << message;
  } catch (const ModelError& error) {
    EXPECT_EQ(std::string(error.what()), "file: " + message);
  }
}

TEST(Bpe, BrokenDefinitions) {
  ExpectError({{"a", "b"}, {{"a", "b"}}, {}},
              "model.merges[0]: \"a\" and \"b\" cannot merge: \"ab\" is not in the vocabulary");
  ExpectError({{"a", "ab"}, {{"a", "b"}}, {}},
              "model.merges[0]: \"a\" and \"b\" cannot merge: \"b\" is not in the vocabulary");
  ExpectError({{"b", "ab"}, {{"a", "b"}}, {}},
              "model.merges[0]: \"a\" and \"b\" cannot merge: \"a\" is not in the vocabulary");
  ExpectError({{"a", "b", "ab"}, {{"a", "b"}}, {.continuing_subword_prefix = "##"}},
              "model.merges[0]: \"a\" and \"b\" cannot merge: the second part does not start with "
              "the prefix \"##\"");
  ExpectError({{"a"}, {}, {.unk_token = "<unk>"}},
              "the unknown token \"<unk>\" is not in the vocabulary");
  ExpectError({{"a", "b", "a"}, {}, {}}, "token \"a\" has two ids, 0 and 2");
}

// GPT-2's unknown token is never needed where all bytes are known.
TEST(Bpe, AnUnknownTokenThatIsNeverNeededMayBeMissing) {
  Definition d{.vocabulary = {}, .merges = {}, .options = {.unk_token = "<unk>"}};
  for (int byte = 0; byte < 256; ++byte) d.vocabulary.emplace_back(1, static_cast<char>(byte));
  d.options.words_are_bytes = true;
  EXPECT_NO_THROW(d.Make());
  d.vocabulary.pop_back();
  ExpectError(d, "the unknown token \"<unk>\" is not in the vocabulary");
}

}  // namespace
}  // namespace tandem::text
