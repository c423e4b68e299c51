#include "documents/passages/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "documents/passages/words.h"

namespace tandem::documents {
namespace {

using testing::ElementsAre;

std::vector<std::string> Cut(const std::string& text) {
  std::vector<std::string> sentences;
  for (const Span span : SentencesOf(text, {0, text.size()})) {
    sentences.push_back(text.substr(span.begin, span.size()));
  }
  return sentences;
}

TEST(Sentences, EndAtStopsBeforeWhiteSpace) {
  EXPECT_THAT(Cut("One. Two!  Three? \"Four.\" (Five.) Six"),
              ElementsAre("One.", "Two!", "Three?", "\"Four.\"", "(Five.)", "Six"));
  EXPECT_THAT(Cut("Version 3.14 of a.b is out... Yes"),
              ElementsAre("Version 3.14 of a.b is out...", "Yes"));
}

TEST(Sentences, GoOnAfterAbbreviationsAndBeforeLowerCase) {
  EXPECT_THAT(Cut("See Dr. Smith, e.g. Today. J. R. Doe came."),
              ElementsAre("See Dr. Smith, e.g. Today.", "J. R. Doe came."));
  EXPECT_THAT(Cut("It cost approx. 5 dollars. \"What?\" he said."),
              ElementsAre("It cost approx. 5 dollars.", "\"What?\" he said."));
  EXPECT_THAT(Cut("1. Wash.\n2. Dry."), ElementsAre("1. Wash.", "2. Dry."));
  EXPECT_THAT(Cut("So do I. You too."), ElementsAre("So do I.", "You too."));
}

TEST(Sentences, StopsThatStandAloneEndThem) {
  EXPECT_THAT(Cut("the wing . an experiment was made . it flew"),
              ElementsAre("the wing .", "an experiment was made .", "it flew"));
}

TEST(Sentences, EndAtBlankLinesAndNotAtLineEnds) {
  EXPECT_THAT(Cut("cut\nanywhere\n \nnext"), ElementsAre("cut\nanywhere", "next"));
}

TEST(Sentences, KnowOtherScripts) {
  EXPECT_THAT(Cut("你好。世界！"), ElementsAre("你好。", "世界！"));
  EXPECT_THAT(Cut("यह एक है। दूसरा।"), ElementsAre("यह एक है।", "दूसरा।"));
}

TEST(Sentences, NothingHasNone) {
  EXPECT_TRUE(Cut("").empty());
  EXPECT_TRUE(Cut(" \n ").empty());
  EXPECT_THAT(Cut("..."), ElementsAre("..."));
}

TEST(Words, AreRunsOfLettersInLowerCase) {
  EXPECT_EQ(WordCount("It's 3.5 km -- Größe!"), 6U);
  EXPECT_EQ(WordCount("你好 world"), 3U);
  EXPECT_EQ(WordCount(" .,! "), 0U);
  EXPECT_EQ(WordHashes("Wool GLOVES"), WordHashes("wool, gloves"));
  EXPECT_NE(WordHashes("wool gloves"), WordHashes("gloves wool"));
  EXPECT_TRUE(HasRun(WordHashes("a b c d"), WordHashes("B c")));
  EXPECT_FALSE(HasRun(WordHashes("a b c d"), WordHashes("b d")));
  EXPECT_TRUE(HasRun({}, {}));
}

}  // namespace
}  // namespace tandem::documents
