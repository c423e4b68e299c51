// Pre-tokenizers: their words, and what `first` means. The expected words are those of the
// `tokenizers` package (0.23.3).
#include "text/pre_tokenizers/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/generated_texts.h"
#include "text/pre_tokenizers/bert_pre_tokenizer.h"
#include "text/pre_tokenizers/metaspace.h"
#include "text/pre_tokenizers/pre_tokenizer_sequence.h"
#include "text/pre_tokenizers/white_space.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Prepend = MetaspaceOptions::Prepend;
using Stages = std::vector<std::unique_ptr<const PreTokenizer>>;

std::vector<std::string> WordsOf(const PreTokenizer& splitter, std::string_view text,
                                 bool first = true) {
  const std::string padded = std::string(text) + std::string(kWordPadding, '\0');
  Words words;
  splitter.Split(std::string_view(padded).substr(0, text.size()), first, &words);
  return {words.views().begin(), words.views().end()};
}

template <typename... Parts>
PreTokenizerSequence SequenceOf(Parts... parts) {
  Stages stages;
  (stages.push_back(std::make_unique<Parts>(std::move(parts))), ...);
  return PreTokenizerSequence(std::move(stages));
}

TEST(PreTokenizer, WhiteSpace) {
  EXPECT_THAT(WordsOf(WhitespaceSplit(), " Hey_a..b!?\u00a0\u3000\u00e9\n"),
              ElementsAre("Hey_a..b!?", "\u00e9"));
  EXPECT_THAT(WordsOf(Whitespace(), " Hey_a..b!?\u00a0\u3000\u00e9\n"),
              ElementsAre("Hey_a", "..", "b", "!?", "\u00e9"));
  EXPECT_THAT(WordsOf(Whitespace(), " \t"), IsEmpty());
  EXPECT_THAT(WordsOf(WhitespaceSplit(), ""), IsEmpty());
}

TEST(PreTokenizer, MetaspaceWritesSpacesAsItsReplacement) {
  const Metaspace always({});
  EXPECT_THAT(WordsOf(always, "Hey  you"), ElementsAre("\u2581Hey", "\u2581", "\u2581you"));
  EXPECT_THAT(WordsOf(always, " a"), ElementsAre("\u2581a"));
  EXPECT_THAT(WordsOf(always, "\u2581b c\u2581d"), ElementsAre("\u2581b", "\u2581c", "\u2581d"));
  EXPECT_THAT(WordsOf(always, "\u2582\u00e9"), ElementsAre("\u2581\u2582\u00e9"));
  EXPECT_THAT(WordsOf(always, ""), IsEmpty());
  EXPECT_THAT(WordsOf(Metaspace({.split = false}), "Hey  you"),
              ElementsAre("\u2581Hey\u2581\u2581you"));
  EXPECT_THAT(WordsOf(Metaspace({.replacement = "_"}), "a b_c"), ElementsAre("_a", "_b", "_c"));
}

TEST(PreTokenizer, WhatMetaspacePrepends) {
  for (const bool first : {false, true}) {
    EXPECT_THAT(WordsOf(Metaspace({.prepend_scheme = Prepend::kAlways}), "a", first),
                ElementsAre("\u2581a"));
    EXPECT_THAT(WordsOf(Metaspace({.prepend_scheme = Prepend::kFirst}), "a", first),
                ElementsAre(first ? "\u2581a" : "a"));
    EXPECT_THAT(WordsOf(Metaspace({.prepend_scheme = Prepend::kNever}), "a", first),
                ElementsAre("a"));
  }
}

// Only the first word of a sequence starts where the text does, and only if the text starts there.
TEST(PreTokenizer, ASequenceKnowsItsFirstWord) {
  const auto once = SequenceOf(WhitespaceSplit(), Metaspace({.prepend_scheme = Prepend::kFirst}));
  EXPECT_THAT(WordsOf(once, "a b"), ElementsAre("\u2581a", "b"));
  EXPECT_THAT(WordsOf(once, " a b"), ElementsAre("a", "b"));
  EXPECT_THAT(WordsOf(once, "a b", false), ElementsAre("a", "b"));
  EXPECT_THAT(WordsOf(once, ""), IsEmpty());
  EXPECT_THAT(WordsOf(once, " "), IsEmpty());
  const auto rewritten =
      SequenceOf(Metaspace({.replacement = "_", .prepend_scheme = Prepend::kNever}),
                 Metaspace({.prepend_scheme = Prepend::kFirst}));
  EXPECT_THAT(WordsOf(rewritten, "a b"), ElementsAre("\u2581a", "_b"));
  EXPECT_THAT(WordsOf(rewritten, "a b", false), ElementsAre("a", "_b"));
  const auto dropped = SequenceOf(
      WhitespaceSplit(), Metaspace({.replacement = "_", .prepend_scheme = Prepend::kNever}),
      Metaspace({.prepend_scheme = Prepend::kFirst}));
  EXPECT_THAT(WordsOf(dropped, " a b"), ElementsAre("a", "b"));
}

TEST(PreTokenizer, AnEmptySequenceLeavesTheText) {
  EXPECT_THAT(WordsOf(PreTokenizerSequence(Stages()), "a b"), ElementsAre("a b"));
  EXPECT_THAT(WordsOf(PreTokenizerSequence(Stages()), ""), IsEmpty());
}

// Words that were written anew stay where they are until Clear, however many there are.
TEST(PreTokenizer, RewrittenWordsStay) {
  const auto splitter = SequenceOf(WhitespaceSplit(), Metaspace({}));
  const std::string long_word(100'000, 'x');
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += (i % 10'000 == 9'999 ? long_word : "word") + " ";
  text.append(kWordPadding, '\0');
  Words words;
  for (int round = 0; round < 2; ++round) {
    words.Clear();
    splitter.Split(std::string_view(text).substr(0, text.size() - kWordPadding), true, &words);
    ASSERT_EQ(words.size(), 30'000U);
    for (size_t i = 0; i < words.size(); ++i) {
      ASSERT_EQ(words.views()[i], "\u2581" + (i % 10'000 == 9'999 ? long_word : "word")) << i;
    }
  }
}

RC_GTEST_PROP(PreTokenizer, CutsAtSpaces, (uint64_t left, uint64_t right)) {
  const auto sequence =
      SequenceOf(WhitespaceSplit(), Metaspace({.prepend_scheme = Prepend::kFirst}));
  const Metaspace metaspace({.prepend_scheme = Prepend::kFirst});
  const BertPreTokenizer bert;
  const Whitespace whitespace;
  const std::string first = RandomText(left);
  std::string second(1, ' ');
  second += RandomText(right);
  for (const PreTokenizer* splitter :
       std::vector<const PreTokenizer*>{&sequence, &metaspace, &bert, &whitespace}) {
    RC_ASSERT(splitter->cuts() == Cuts::kAtSpaces);
    std::vector<std::string> expected = WordsOf(*splitter, first);
    for (const std::string& word : WordsOf(*splitter, second, false)) expected.push_back(word);
    RC_ASSERT(WordsOf(*splitter, first + second) == expected);
  }
}

}  // namespace
}  // namespace tandem::text
