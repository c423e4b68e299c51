// Split, Digits, Punctuation and ByteLevel. The expected words are those of the `tokenizers`
// package (0.23.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/generated_texts.h"
#include "text/pre_tokenizers/byte_level_pre_tokenizer.h"
#include "text/pre_tokenizers/character_split.h"
#include "text/pre_tokenizers/pattern_split.h"
#include "text/pre_tokenizers/pre_tokenizer_sequence.h"
#include "text/regex/known_patterns.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using enum SplitBehavior;

std::vector<std::string> WordsOf(const PreTokenizer& splitter, std::string_view text) {
  const std::string padded = std::string(text) + std::string(kWordPadding, '\0');
  Words words;
  splitter.Split(std::string_view(padded).substr(0, text.size()), true, &words);
  return {words.views().begin(), words.views().end()};
}

std::vector<std::string> Cut(std::string_view pattern, SplitBehavior behavior, bool invert,
                             std::string_view text) {
  return WordsOf(PatternSplit(pattern, {.behavior = behavior, .invert = invert}), text);
}

TEST(Split, Behaviors) {
  const std::string text = "the-final--countdown-";
  EXPECT_THAT(Cut("-", kRemoved, false, text), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(Cut("-", kIsolated, false, text),
              ElementsAre("the", "-", "final", "-", "-", "countdown", "-"));
  EXPECT_THAT(Cut("-", kMergedWithPrevious, false, text),
              ElementsAre("the-", "final-", "-", "countdown-"));
  EXPECT_THAT(Cut("-", kMergedWithNext, false, text),
              ElementsAre("the", "-final", "-", "-countdown", "-"));
  EXPECT_THAT(Cut("-", kContiguous, false, text),
              ElementsAre("the", "-", "final", "--", "countdown", "-"));
}

TEST(Split, Inverted) {
  const std::string text = "the-final--countdown-";
  EXPECT_THAT(Cut("-", kRemoved, true, text), ElementsAre("-", "-", "-", "-"));
  EXPECT_THAT(Cut("-", kIsolated, true, text),
              ElementsAre("the", "-", "final", "-", "-", "countdown", "-"));
  EXPECT_THAT(Cut("-", kMergedWithPrevious, true, text),
              ElementsAre("the", "-final", "-", "-countdown", "-"));
  EXPECT_THAT(Cut("-", kMergedWithNext, true, text),
              ElementsAre("the-", "final-", "-", "countdown-"));
  EXPECT_THAT(Cut("-", kContiguous, true, text),
              ElementsAre("the", "-", "final", "--", "countdown", "-"));
}

TEST(Split, AtTheBeginning) {
  EXPECT_THAT(Cut("-", kMergedWithPrevious, false, "--a"), ElementsAre("-", "-", "a"));
  EXPECT_THAT(Cut("-", kMergedWithNext, false, "--a"), ElementsAre("-", "-a"));
  EXPECT_THAT(Cut("-", kContiguous, false, "--a"), ElementsAre("--", "a"));
  EXPECT_THAT(Cut("-", kMergedWithPrevious, true, "--a"), ElementsAre("-", "-a"));
}

TEST(Split, EmptyMatchesAndEmptyTexts) {
  EXPECT_THAT(Cut("", kIsolated, false, "a\u00e9c"), ElementsAre("a", "\u00e9", "c"));
  EXPECT_THAT(Cut("b*", kIsolated, false, "a\u00e9 b"), ElementsAre("a", "\u00e9", " ", "b"));
  EXPECT_THAT(Cut("b*", kRemoved, false, "abba"), ElementsAre("a", "a"));
  EXPECT_THAT(Cut("b*", kIsolated, false, ""), IsEmpty());
  EXPECT_THAT(Cut("a", kRemoved, false, "aaa"), IsEmpty());
}

TEST(Split, Strings) {
  const PatternSplit dots(Regex::Of("a."), {.behavior = kIsolated});
  EXPECT_THAT(WordsOf(dots, "xa.ab"), ElementsAre("x", "a.", "ab"));
  const PatternSplit doubled(Regex::Of("aa"), {.behavior = kIsolated});
  EXPECT_THAT(WordsOf(doubled, "aaaaa"), ElementsAre("aa", "aa", "a"));
  const PatternSplit spaces(Regex::Of(" "), {.behavior = kMergedWithPrevious});
  EXPECT_THAT(WordsOf(spaces, "a  b"), ElementsAre("a ", " ", "b"));
}

TEST(Split, Digits) {
  const std::string text = "12a12\u00bd\u0663b\U00011de0";
  EXPECT_THAT(WordsOf(Digits(true), text),
              ElementsAre("1", "2", "a", "1", "2", "\u00bd", "\u0663", "b", "\U00011de0"));
  EXPECT_THAT(WordsOf(Digits(false), text),
              ElementsAre("12", "a", "12\u00bd\u0663", "b", "\U00011de0"));
  EXPECT_THAT(WordsOf(Digits(true), ""), IsEmpty());
}

TEST(Split, Punctuation) {
  EXPECT_THAT(WordsOf(Punctuation(kIsolated), "a!?b$\u3002"),
              ElementsAre("a", "!", "?", "b", "$", "\u3002"));
  EXPECT_THAT(WordsOf(Punctuation(kContiguous), "a!?b"), ElementsAre("a", "!?", "b"));
  EXPECT_THAT(WordsOf(Punctuation(kRemoved), "a!?b"), ElementsAre("a", "b"));
}

TEST(ByteLevel, KeepsBytesForABpeModel) {
  const ByteLevelPreTokenizer words({.add_prefix_space = false, .keep_bytes = true});
  EXPECT_THAT(WordsOf(words, "Hi  it's 12\u00e9"),
              ElementsAre("Hi", " ", " it", "'s", " 12", "\u00e9"));
  const ByteLevelPreTokenizer prefixed({.add_prefix_space = true, .keep_bytes = true});
  EXPECT_THAT(WordsOf(prefixed, "Hi you"), ElementsAre(" Hi", " you"));
  EXPECT_THAT(WordsOf(prefixed, " Hi"), ElementsAre(" Hi"));
  EXPECT_THAT(WordsOf(prefixed, "\u00a0a"), ElementsAre(" ", "\u00a0", "a"));
  EXPECT_THAT(WordsOf(prefixed, ""), IsEmpty());
  const ByteLevelPreTokenizer whole(
      {.add_prefix_space = true, .use_regex = false, .keep_bytes = true});
  EXPECT_THAT(WordsOf(whole, "a b"), ElementsAre(" a b"));
}

TEST(ByteLevel, WritesByteLevelCharacters) {
  const ByteLevelPreTokenizer words({.add_prefix_space = true});
  EXPECT_THAT(WordsOf(words, "\u00a0a\u2b62\x7f"),
              ElementsAre("\u0120", "\u00c2\u0142", "a", "\u00e2\u0143\u00a2\u0121"));
}

// All that allow cuts: compiled once, which takes longer than the texts of a hundred properties.
const std::vector<std::unique_ptr<const PreTokenizer>>& SplittersThatAllowCuts() {
  static const auto splitters = [] {
    std::vector<std::unique_ptr<const PreTokenizer>> made;
    made.push_back(std::make_unique<ByteLevelPreTokenizer>(ByteLevelOptions{}));
    for (const std::string_view pattern : KnownWordPatterns()) {
      made.push_back(std::make_unique<PatternSplit>(pattern, PatternSplitOptions{}));
    }
    for (const std::string_view pattern : KnownSpacelessPatterns()) {
      std::vector<std::unique_ptr<const PreTokenizer>> stages;
      stages.push_back(std::make_unique<PatternSplit>(pattern, PatternSplitOptions{}));
      stages.push_back(std::make_unique<Digits>(false));
      stages.push_back(std::make_unique<Punctuation>(kMergedWithPrevious));
      stages.push_back(
          std::make_unique<PatternSplit>(KnownWordPatterns().back(), PatternSplitOptions{}));
      made.push_back(std::make_unique<PreTokenizerSequence>(std::move(stages)));
    }
    return made;
  }();
  return splitters;
}

// Known patterns say where a text may be cut; so do sequences of them.
RC_GTEST_PROP(Split, PartsOfATextDoNotShow, (uint64_t left, uint64_t right)) {
  std::string first = WordText(left);
  first.push_back(static_cast<char>(*rc::gen::inRange(0x21, 0x7F)));
  std::string second(1, ' ');
  second += WordText(right);
  for (const auto& splitter : SplittersThatAllowCuts()) {
    RC_ASSERT(splitter->cuts() == Cuts::kAfterAscii);
    std::vector<std::string> expected = WordsOf(*splitter, first);
    for (const std::string& word : WordsOf(*splitter, second)) expected.push_back(word);
    RC_ASSERT(WordsOf(*splitter, first + second) == expected);
  }
}

TEST(Split, OnlyKnownPatternsAllowCuts) {
  EXPECT_EQ(PatternSplit("a b", {}).cuts(), Cuts::kNowhere);
  EXPECT_EQ(PatternSplit("a b", {}).cuts_if_later(), Cuts::kNowhere);
  EXPECT_EQ(PatternSplit(kGpt2Pattern, {.invert = true}).cuts(), Cuts::kNowhere);
  EXPECT_EQ(PatternSplit(kGpt2Pattern, {.behavior = kContiguous}).cuts(), Cuts::kNowhere);
  EXPECT_EQ(Punctuation(kMergedWithNext).cuts_if_later(), Cuts::kNowhere);
}

}  // namespace
}  // namespace tandem::text
