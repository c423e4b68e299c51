#include "report/tables/one_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "base/utf8.h"
#include "support/hard_text.h"
#include "text/width/display_width.h"

namespace tandem::report {
namespace {

TEST(EndOfLine, KeepsTheEnd) {
  EXPECT_EQ(EndOfLine("pages/a/care.md#3", 17), "pages/a/care.md#3");
  EXPECT_EQ(EndOfLine("pages/a/care.md#3", 16), "…ges/a/care.md#3");
  EXPECT_EQ(EndOfLine("pages/a/care.md#3", 1), "…");
  EXPECT_EQ(EndOfLine("pages", 0), "");
  EXPECT_EQ(EndOfLine("東京.md", 6), "…京.md");
  EXPECT_EQ(EndOfLine("東京.md", 5), "….md");
  EXPECT_EQ(EndOfLine("東京.md", 7), "東京.md");
  EXPECT_EQ(EndOfLine("a\nb", 4), "a\\nb");
}

TEST(EndsOfLine, KeepsBothEnds) {
  EXPECT_EQ(EndsOfLine("jacobsen-syndrome-type-2.md#3", 29), "jacobsen-syndrome-type-2.md#3");
  EXPECT_EQ(EndsOfLine("jacobsen-syndrome-type-2.md#3", 18), "jacobs…type-2.md#3");
  EXPECT_EQ(EndsOfLine("jacobsen", 1), "…");
  EXPECT_EQ(EndsOfLine("jacobsen", 0), "");
}

TEST(OneLine, CutsBetweenWords) {
  EXPECT_EQ(OneLine("alpha beta gamma", 16), "alpha beta gamma");
  EXPECT_EQ(OneLine("alpha beta gamma", 15), "alpha beta…");
  EXPECT_EQ(OneLine("alpha beta gamma", 11), "alpha beta…");
  EXPECT_EQ(OneLine("alpha beta gamma", 10), "alpha…");  // "alpha beta…" would be 11
  EXPECT_EQ(OneLine("  alpha\n\tbeta ", 20), "alpha beta");
  EXPECT_EQ(OneLine("", 20), "");
  EXPECT_EQ(OneLine("alpha", 0), "");
}

TEST(OneLine, CutsWithinAWordThatIsLongerThanHalfALine) {
  EXPECT_EQ(OneLine("abcdefghij", 6), "abcde…");
  EXPECT_EQ(OneLine("ab cdefghij", 6), "ab cd…");
  EXPECT_EQ(OneLine("abc cdefghij", 6), "abc…");  // no room for a wide character and "…"
  EXPECT_EQ(OneLine("ab cdefg", 6), "ab cd…");
  EXPECT_EQ(OneLine("abcd efgh", 8), "abcd…");       // half a line: not longer
  EXPECT_EQ(OneLine("abc def", 3), "ab…");           // no room for "…" after the whole word
  EXPECT_EQ(OneLine("+ abcdef gh", 8), "+ abcde…");  // it ends at the last column
  EXPECT_EQ(OneLine("+ abcd gh", 8), "+ abcd…");
}

// Columns, not bytes: accents of their own take none, wide characters two.
TEST(OneLine, CountsColumns) {
  EXPECT_EQ(OneLine("été été", 7), "été été");
  EXPECT_EQ(OneLine("e\u0301te\u0301 x", 5), "e\u0301te\u0301 x");
  EXPECT_EQ(OneLine("日本語", 6), "日本語");
  EXPECT_EQ(OneLine("日本語", 5), "日本…");
  EXPECT_EQ(OneLine("Titel 五十年前的事情 x", 16), "Titel 五十年前…");  // no blanks to cut at
  EXPECT_EQ(OneLine("\xff\xfe abc", 6), "\ufffd\ufffd abc");            // no UTF-8: a column each
  EXPECT_EQ(OneLine("a\x9b\u009b b", 20), "a\ufffd? b");
}

RC_GTEST_PROP(OneLine, IsNeverWiderThanAskedAndAlwaysUtf8, ()) {
  const std::string text = *HardText();
  const size_t columns = *rc::gen::inRange<size_t>(0, 30);
  const std::string line = OneLine(text, columns);
  RC_ASSERT(IsUtf8(line));
  RC_ASSERT(text::DisplayWidth(line) <= columns);
  RC_ASSERT(text::Printable(line) == line);
}

TEST(WrappedLines, BreakBetweenWordsAndWithinLongOnes) {
  using testing::ElementsAre;
  EXPECT_THAT(WrappedLines("alpha beta gamma", 10), ElementsAre("alpha beta", "gamma"));
  EXPECT_THAT(WrappedLines("alpha beta", 9), ElementsAre("alpha", "beta"));
  EXPECT_THAT(WrappedLines("a bcdefgh i", 3), ElementsAre("a", "bcd", "efg", "h i"));
  EXPECT_THAT(WrappedLines(" \n", 3), ElementsAre(""));
  EXPECT_THAT(WrappedLines("日本語", 5), ElementsAre("日本", "語"));
}

RC_GTEST_PROP(WrappedLines, HoldAllWordsAndFit, ()) {
  const std::string text = *HardText();
  const size_t columns = *rc::gen::inRange<size_t>(3, 30);  // 3: the widest cluster
  std::string all;
  for (const std::string& line : WrappedLines(text, columns)) {
    RC_ASSERT(text::DisplayWidth(line) <= columns);
    RC_ASSERT(IsUtf8(line));
    all += line;
  }
  const auto without_blanks = [](std::string from) {
    std::erase(from, ' ');
    return from;
  };
  RC_ASSERT(without_blanks(all) == without_blanks(OneLine(text, 10'000)));
}

}  // namespace
}  // namespace tandem::report
