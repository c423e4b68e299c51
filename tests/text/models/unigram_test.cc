// Unigram on small vocabularies. The expected ids are those of the `tokenizers` package (0.23.3).
#include "text/models/unigram.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/generated_texts.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int32_t> Ids(const Unigram& model, std::string_view word) {
  const std::string padded = std::string(word) + std::string(kWordPadding, '\0');
  const std::string_view words[] = {std::string_view(padded).substr(0, word.size())};
  std::vector<int32_t> ids;
  WordCache cache;
  for (int round = 0; round < 2; ++round) {  // the second time from the cache
    ids.clear();
    model.Tokenize(words, std::numeric_limits<size_t>::max() / 2, &cache, &ids);
  }
  return ids;
}

Unigram Make(const std::vector<UnigramToken>& vocabulary, UnigramOptions options = {.unk_id = 0}) {
  return Unigram(vocabulary, options, "m/tokenizer.json");
}

TEST(Unigram, TheLargestSumWins) {
  const Unigram model = Make({{"<unk>", 0}, {"a", 0}, {"b", 0}, {"ab", 2}, {"xx", 1}});
  EXPECT_THAT(Ids(model, "abcdx"), ElementsAre(3, 0));
  EXPECT_THAT(Ids(model, "xx"), ElementsAre(4));
  EXPECT_THAT(Ids(model, "xxx"), ElementsAre(0, 4));
}

TEST(Unigram, UnknownCharactersNextToEachOtherAreOne) {
  const Unigram model = Make({{"<unk>", 0}, {"a", 0}, {"b", 0}, {"ab", 2}, {"xx", 1}});
  EXPECT_THAT(Ids(model, "\u2603\u2603a\u2603"), ElementsAre(0, 1, 0));
  EXPECT_THAT(Ids(model, "a b"), ElementsAre(1, 0, 2));
  // The token with the unknown one's id counts as unknown, too.
  EXPECT_THAT(Ids(model, "<unk>a"), ElementsAre(0, 1));
  EXPECT_THAT(Ids(model, "<unk>\u2603"), ElementsAre(0));
  // Two unknown characters may be better than the token that they spell, and are it then.
  const Unigram large = Make({{"<unk>", 100}, {"a", 100}, {"xx", 100}});
  EXPECT_THAT(Ids(large, "axx"), ElementsAre(1, 2));
  EXPECT_THAT(Ids(large, "xxx"), ElementsAre(0));
}

TEST(Unigram, OfEqualSumsTheLastTokenThatStartsFirstCounts) {
  const Unigram model = Make({{"<unk>", 0}, {"a", -1}, {"aa", -2}, {"aaa", -3}});
  EXPECT_THAT(Ids(model, "aaaa"), ElementsAre(1, 3));
  EXPECT_THAT(Ids(model, "aaa"), ElementsAre(3));
  EXPECT_THAT(Ids(model, "aaaaa"), ElementsAre(2, 3));
}

TEST(Unigram, OfEqualTokensTheLastCounts) {
  EXPECT_THAT(Ids(Make({{"<unk>", 0}, {"a", -1}, {"a", -3}, {"b", -1}, {"ab", -3.5}}), "ab"),
              ElementsAre(4));
  EXPECT_THAT(Ids(Make({{"<unk>", 0}, {"a", -3}, {"a", -1}, {"b", -1}, {"ab", -3.5}}), "ab"),
              ElementsAre(2, 3));
  EXPECT_THAT(Ids(Make({{"<unk>", 0}, {"", 5}, {"a", -1}}), "aa"), ElementsAre(2, 2));
}

TEST(Unigram, SumsBeyondTheLargestNumber) {
  const Unigram model = Make({{"<unk>", 0}, {"a", -1e308}, {"b", -1e308}});
  EXPECT_THAT(Ids(model, "aab"), ElementsAre(1, 1, 2));
  EXPECT_THAT(Ids(model, "aaz"), ElementsAre(1, 1, 0));
}

TEST(Unigram, ByteFallback) {
  std::vector<std::string> names = {"<unk>", "a"};
  for (int byte = 0; byte < 256; ++byte) names.push_back(fmt::format("<0x{:02X}>", byte));
  std::vector<UnigramToken> vocabulary;
  for (const std::string& name : names) vocabulary.push_back({name, 0});
  vocabulary[1].score = -1;
  const Unigram model = Make(vocabulary, {.unk_id = 0, .byte_fallback = true});
  EXPECT_THAT(Ids(model, "a\u2603a"), ElementsAre(1, 228, 154, 133, 1));
  EXPECT_THAT(Ids(model, "<unk>\u2603"), ElementsAre(62, 119, 112, 109, 64, 228, 154, 133));
  EXPECT_THAT(Ids(model, "\u2603\u2603"), ElementsAre(228, 154, 133, 228, 154, 133));
  EXPECT_THAT(Ids(Make(vocabulary), "\u2603"), ElementsAre(0));  // not asked for
  vocabulary.resize(100);
  const Unigram some = Make(vocabulary, {.unk_id = 0, .byte_fallback = true});
  EXPECT_THAT(Ids(some, "a\u2603a"), ElementsAre(1, 0, 1));
  EXPECT_THAT(Ids(some, "aBa"), ElementsAre(1, 68, 1));
  EXPECT_THAT(Ids(Make({{"<unk>", 0}, {"<0xe2>", 0}, {"<0x98>", 0}, {"<0x83>", 0}},
                       {.unk_id = 0, .byte_fallback = true}),
                  "\u2603"),
              ElementsAre(0));  // hexadecimal digits are capital
}

TEST(Unigram, WithoutUnknownTokenAnUnknownCharacterIsAnError) {
  const Unigram model = Make({{"<unk>", 0}, {"a", 0}, {"\u2603\u2603", 0}}, {});
  EXPECT_THAT(Ids(model, "aa"), ElementsAre(1, 1));
  try {
    Ids(model, "a\u2603");
    FAIL() << "accepted";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("m/tokenizer.json: a text has \"\u2603\" (U+2603), which is "
                          "not in the vocabulary, and model.unk_id is null; set it "
                          "to the id of the unknown token"));
  }
}

// A word of any length, with the memory on the stack or not, is cut as the definition says.
RC_GTEST_PROP(Unigram, FindsTheBestOfAllCuts, ()) {
  const std::vector<std::string> names = {"<unk>", "a",   "b",      "ab",
                                          "ba",    "aab", "\u00e9", "b\u00e9a"};
  std::vector<UnigramToken> vocabulary;
  for (const std::string& name : names) {
    vocabulary.push_back({name, *rc::gen::inRange(-40, 40) / 4.0});  // sums are exact
  }
  std::string word;
  for (const int part : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4))) {
    word += std::vector<std::string>{"a", "b", "\u00e9", "z"}[static_cast<size_t>(part)];
  }
  RC_PRE(!word.empty());
  double smallest = vocabulary[0].score;
  for (const UnigramToken& token : vocabulary) smallest = std::min(smallest, token.score);
  // best[i]: the largest sum for the first i bytes.
  std::vector<double> best(word.size() + 1, -1e300);
  best[0] = 0;
  for (size_t end = 1; end <= word.size(); ++end) {
    for (const UnigramToken& token : vocabulary) {
      const size_t size = token.token.size();
      if (size <= end && word.substr(end - size, size) == token.token) {
        best[end] = std::max(best[end], best[end - size] + token.score);
      }
    }
    if (word[end - 1] == 'z') best[end] = std::max(best[end], best[end - 1] + smallest - 10);
  }
  const std::string padding(*rc::gen::inRange(0, 300), 'z');  // beyond the memory on the stack
  double sum = 0;
  size_t place = 0;
  for (const int32_t id : Ids(Make(vocabulary), word + padding)) {
    if (id == 0) {
      while (place < word.size() + padding.size() && (word + padding)[place] == 'z') {
        if (place++ < word.size()) sum += smallest - 10;
      }
    } else {
      sum += vocabulary[static_cast<size_t>(id)].score;
      place += names[static_cast<size_t>(id)].size();
    }
  }
  RC_ASSERT(place == word.size() + padding.size());
  RC_ASSERT(sum == best[word.size()]);
}

// Work that grew with the square of a word's length would not end here.
TEST(Unigram, AMegabyteOfOneLetter) {
  const Unigram model = Make({{"<unk>", 0}, {"a", -1}, {"aa", -1.5}, {"aaaaaaaa", -3}});
  EXPECT_EQ(Ids(model, std::string(1'000'000, 'a')).size(), 125'000U);
  EXPECT_EQ(Ids(model, std::string(1'000'000, 'x')).size(), 1U);
}

}  // namespace
}  // namespace tandem::text
