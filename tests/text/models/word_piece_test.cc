#include "text/models/word_piece.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace tandem::text {
namespace {

using Tokens = std::vector<std::string>;

Vocabulary MakeVocabulary(const Tokens& tokens) {
  Vocabulary vocabulary("test");
  for (size_t id = 0; id < tokens.size(); ++id)
    vocabulary.Add(tokens[id], static_cast<int64_t>(id));
  return vocabulary;
}

class Words {
 public:
  explicit Words(const Tokens& words) {
    std::vector<size_t> starts;
    for (const std::string& word : words) {
      starts.push_back(bytes_.size());
      bytes_ += word;
    }
    bytes_.append(kWordPadding, '\xFF');
    for (size_t i = 0; i < words.size(); ++i) {
      views_.push_back(std::string_view(bytes_).substr(starts[i], words[i].size()));
    }
  }
  std::span<const std::string_view> views() const { return views_; }

 private:
  std::string bytes_;
  std::vector<std::string_view> views_;
};

std::vector<int32_t> Ids(const WordPiece& model, const Tokens& words) {
  WordCache cache;
  std::vector<int32_t> ids;
  model.Tokenize(Words(words).views(), 1000, &cache, &ids);
  return ids;
}

// WordPiece by its definition: tries every prefix, the longest first.
std::vector<int32_t> Reference(const Tokens& vocabulary, const std::string& prefix, size_t longest,
                               const std::string& word) {
  const auto id_of = [&](const std::string& token) {
    const auto found = std::find(vocabulary.begin(), vocabulary.end(), token);
    return found == vocabulary.end() ? -1 : static_cast<int32_t>(found - vocabulary.begin());
  };
  if (word.size() > longest) return {0};
  std::vector<int32_t> ids;
  for (size_t start = 0; start < word.size();) {
    size_t length = word.size() - start;
    int32_t id = -1;
    for (; length > 0 && id < 0; --length) {
      id = id_of((start > 0 ? prefix : "") + word.substr(start, length));
    }
    if (id < 0) return {0};
    ids.push_back(id);
    start += length + 1;
  }
  return ids;
}

RC_GTEST_PROP(WordPiece, EqualsItsDefinition, ()) {
  const auto piece = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc#")));
  const std::string prefix = *rc::gen::element<std::string>("##", "#", "", "_");
  const auto longest = *rc::gen::inRange<size_t>(0, 24);
  Tokens vocabulary = {"[UNK]"};
  for (const std::string& token : *rc::gen::container<std::vector<std::string>>(piece)) {
    const std::string full = (*rc::gen::arbitrary<bool>() ? prefix : "") + token;
    if (std::find(vocabulary.begin(), vocabulary.end(), full) == vocabulary.end()) {
      vocabulary.push_back(full);
    }
  }
  Tokens words = *rc::gen::container<std::vector<std::string>>(rc::gen::nonEmpty(piece));
  words.insert(words.end(), words.begin(), words.end());  // the second time from the cache
  const WordPiece model(MakeVocabulary(vocabulary),
                        {.continuing_subword_prefix = prefix, .max_input_chars_per_word = longest},
                        "test");
  std::vector<int32_t> expected;
  for (const std::string& word : words) {
    const auto ids = Reference(vocabulary, prefix, longest, word);
    expected.insert(expected.end(), ids.begin(), ids.end());
  }
  RC_ASSERT(Ids(model, words) == expected);
}

TEST(WordPiece, WordsAroundTheCachesSizeLimits) {
  Tokens vocabulary = {"[UNK]", "a", "##a", "b"};
  const WordPiece model(MakeVocabulary(vocabulary), {}, "test");
  for (size_t length = 1; length <= 120; ++length) {
    const std::string word(length, 'a');
    std::vector<int32_t> expected(length, 2);
    expected[0] = 1;
    if (length > 100) expected = {0};
    std::vector<int32_t> twice = expected;
    twice.push_back(3);
    twice.insert(twice.end(), expected.begin(), expected.end());
    EXPECT_EQ(Ids(model, {word, "b", word}), twice) << length;
  }
}

// A word and the same word with a zero byte after it have the same key bytes.
TEST(WordPiece, ZeroBytesAreNotTheEndOfAWord) {
  const std::string zero("a\0", 2);
  const WordPiece model(MakeVocabulary({"[UNK]", "a", zero}), {}, "test");
  EXPECT_EQ(Ids(model, {"a", zero, "a"}), (std::vector<int32_t>{1, 2, 1}));
}

TEST(WordPiece, LengthCountsCharactersNotBytes) {
  const WordPiece model(MakeVocabulary({"[UNK]", "\u00e9", "##\u00e9"}),
                        {.max_input_chars_per_word = 3}, "test");
  EXPECT_EQ(Ids(model, {"\u00e9\u00e9\u00e9"}), (std::vector<int32_t>{1, 2, 2}));
  EXPECT_EQ(Ids(model, {"\u00e9\u00e9\u00e9\u00e9"}), (std::vector<int32_t>{0}));
}

TEST(WordPiece, StopsBehindTheLimit) {
  const WordPiece model(MakeVocabulary({"[UNK]", "a"}), {}, "test");
  WordCache cache;
  std::vector<int32_t> ids;
  model.Tokenize(Words(Tokens(10, "a")).views(), 3, &cache, &ids);
  EXPECT_EQ(ids.size(), 4U);
}

TEST(WordPiece, MissingUnknownTokenIsAnError) {
  try {
    const WordPiece model(MakeVocabulary({"a"}), {.unk_token = "<unk>"}, "some/file");
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_STREQ(error.what(), "some/file: the unknown token \"<unk>\" is not in the vocabulary");
  }
}

}  // namespace
}  // namespace tandem::text
