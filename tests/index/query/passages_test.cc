#include "index/query/passages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "base/utf8.h"
#include "support/hard_text.h"

namespace tandem::index {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Split(std::string_view text, size_t target = 320) {
  std::vector<std::string> passages;
  for (const Passage& passage : SplitPassages(text, target)) {
    passages.emplace_back(text.substr(passage.begin, passage.end - passage.begin));
  }
  return passages;
}

// Sentences alone: those of the tests have more than half a target and less than two.
std::vector<std::string> Sentences(std::string_view text, size_t target = 12) {
  return Split(text, target);
}

TEST(SplitPassages, EndsSentencesAtStops) {
  EXPECT_THAT(Sentences("It rains. Does it? It does! We stay in…  Then we go."),
              ElementsAre("It rains.", "Does it?", "It does!", "We stay in…", "Then we go."));
  EXPECT_THAT(Sentences("He said \"I am.\" (We were.) She knew."),
              ElementsAre("He said \"I am.\"", "(We were.)", "She knew."));
}

TEST(SplitPassages, EndsSentencesOfOtherScripts) {
  EXPECT_THAT(Sentences("今天下雨了。我们在家！「好吗？」他问。"),
              ElementsAre("今天下雨了。", "我们在家！", "「好吗？」", "他问。"));
  EXPECT_THAT(Sentences("वह घर गया। वह सो गया।", 30), ElementsAre("वह घर गया।", "वह सो गया।"));
  EXPECT_THAT(Sentences("هل تمطر؟ نعم تمطر.", 20), ElementsAre("هل تمطر؟", "نعم تمطر."));
}

TEST(SplitPassages, GoesOnBehindStopsThatEndNothing) {
  for (const std::string text :
       {"Ask Dr. Who.", "See e.g. Fig. 5.", "In the U.S. Army.", "J. S. Bach died.",
        "Pi is 3.14 now.", "1. Fill the pot.", "\"Stop!\" he cried.", "He came ... and went.",
        "Das z.B. Haus.", "Use node.js 2.0 here.", "Mr. and Mrs. Doe."}) {
    EXPECT_THAT(Sentences(text), ElementsAre(text));
  }
  EXPECT_THAT(Sentences("It has 12. Then 3 more."), ElementsAre("It has 12.", "Then 3 more."));
  EXPECT_THAT(Sentences("See example.com. Then go."), ElementsAre("See example.com.", "Then go."));
}

TEST(SplitPassages, EndsSentencesAtLineEndsUnlessTheyGoOn) {
  EXPECT_THAT(Sentences("First line\nSecond line\r\nThird line\u2028Fourth line"),
              ElementsAre("First line", "Second line", "Third line", "Fourth line"));
  EXPECT_THAT(Sentences("one line that\ngoes on"), ElementsAre("one line that\ngoes on"));
  EXPECT_THAT(Sentences("new paragraph\n\ngoes not on"),
              ElementsAre("new paragraph", "goes not on"));
}

TEST(SplitPassages, JoinsSentencesUpToTheTarget) {
  EXPECT_THAT(Split("One is it. Two is it. Three it is.", 21),
              ElementsAre("One is it. Two is it.", "Three it is."));
  EXPECT_THAT(Split("One is it. Two is it. Three it is.", 20),
              ElementsAre("One is it.", "Two is it.", "Three it is."));
  // What is left over joins the passage before it.
  EXPECT_THAT(Split("One is it. Two is it. Yes.", 21), ElementsAre("One is it. Two is it. Yes."));
  EXPECT_THAT(Split("One is it. Two is it.\n\nYes.", 21),
              ElementsAre("One is it. Two is it.", "Yes."));
}

TEST(SplitPassages, AHeadingStandsBeforeItsParagraph) {
  EXPECT_THAT(Split("Title\n\nOne is it. Two is it. Three it is.", 30),
              ElementsAre("Title\n\nOne is it. Two is it.", "Three it is."));
  EXPECT_THAT(Split("One is it. Two is it.\n\nThree.", 30),
              ElementsAre("One is it. Two is it.", "Three."));
}

TEST(SplitPassages, CutsLongSentences) {
  EXPECT_THAT(Split("aaaa bbbb, cccc dddd eeee ffff gggg hhhh", 16),
              ElementsAre("aaaa bbbb,", "cccc dddd eeee", "ffff gggg hhhh"));
  EXPECT_THAT(Split("在家，我们吃饭，我们睡觉，我们看书，再吃", 24),
              ElementsAre("在家，我们吃饭，", "我们睡觉，", "我们看书，再吃"));
  const std::vector<std::string> word = Split(std::string(1000, 'x'), 320);
  EXPECT_THAT(word, ElementsAre(std::string(320, 'x'), std::string(320, 'x'),
                                std::string(320, 'x') + std::string(40, 'x')));
  // It is cut between clusters, where there is no blank: e with its accent is one.
  std::string accents;
  for (int i = 0; i < 20; ++i) accents += "e\u0301";
  EXPECT_THAT(Split(accents, 10), testing::Each(testing::StartsWith("e\u0301")));
}

TEST(SplitPassages, DegenerateTexts) {
  EXPECT_THAT(Split(""), IsEmpty());
  EXPECT_THAT(Split(" \n\t\u3000\u00a0\r\n"), IsEmpty());
  EXPECT_THAT(Split("  x "), ElementsAre("x"));
  EXPECT_THAT(Split("..."), ElementsAre("..."));
  EXPECT_THAT(Split("\xff\xfe \xe2\x82"), ElementsAre("\xff\xfe \xe2\x82"));
  EXPECT_EQ(Split("abc", 0).size(), 3);
  EXPECT_THAT(Split("\u65e5 \u65e5", 1), ElementsAre("\u65e5", "\u65e5"));
  EXPECT_EQ(Split(std::string(5000, '\xff'), 320).size(), 16);
}

TEST(SplitPassages, IsQuickForOneGiantCluster) {
  std::string text = "e";
  while (text.size() < 1'000'000) text += "\u0301";
  EXPECT_EQ(SplitPassages(text).size(), 3125);
}

bool StartsCharacter(std::string_view text, size_t at) {
  size_t place = 0;
  while (place < at) {
    place += static_cast<size_t>(std::abs(CharacterLength(text.substr(place))));
  }
  return place == at;
}

TEST(SplitPassages, CoversWhatIsNotBlankInOrder) {
  EXPECT_TRUE(rc::check([] {
    std::string text;
    const auto stop = rc::gen::elementOf(std::vector<std::string>{"", ". ", "。", "\n\n", ", "});
    for (int i = *rc::gen::inRange(0, 12); i > 0; --i) text += *HardText() + *stop;
    const auto target = *rc::gen::inRange<size_t>(1, 60);
    size_t end = 0;
    const auto is_blank = [](std::string_view between) {
      return between.find_first_not_of(" \n\t\x1b\u2028") == std::string_view::npos;
    };
    for (const Passage& passage : SplitPassages(text, target)) {
      RC_ASSERT(passage.begin >= end && passage.end > passage.begin && passage.end <= text.size());
      RC_ASSERT(is_blank(std::string_view(text).substr(end, passage.begin - end)));
      RC_ASSERT(StartsCharacter(text, passage.begin) && StartsCharacter(text, passage.end));
      RC_ASSERT(passage.end - passage.begin <= std::max<size_t>(2 * target, 4));
      end = passage.end;
    }
    RC_ASSERT(is_blank(std::string_view(text).substr(end)));
  }));
}

}  // namespace
}  // namespace tandem::index
