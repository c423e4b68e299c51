#include "text/width/display_width.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "support/hard_text.h"
#include "text/width/width_table.h"

namespace tandem::text {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"", 0},
      {"abc", 3},
      {"\u00e9t\u00e9", 3},
      {"e\u0301te\u0301", 3},     // accents of their own
      {"\u65e5\u672c\u8a9e", 6},  // ideographs
      {"\uff21", 2},              // a full-width letter
      {"\uff71", 1},              // a half-width one
      {"\ud55c", 2},              // a Hangul syllable, and the same of three jamo:
      {"\u1112\u1161\u11ab", 2},
      {"a\u200bb", 2},                    // a space without width
      {"\u00ad", 1},                      // a soft hyphen is seen
      {"\u0627\u064e", 1},                // an Arabic letter with a vowel
      {"\U0001f600", 2},                  // an emoji
      {"\U0001f44d\U0001f3fd", 2},        // with a colour of skin
      {"\U0001f469\u200d\U0001f52c", 2},  // two that are joined to one
      {"\u2764", 1},                      // a heart as text, and as a picture:
      {"\u2764\ufe0f", 2},
      {"\U0001f1e9\U0001f1ea", 2},  // a flag
      {"\u03b1", 1},                // of ambiguous width: narrow
      {"\u0378\U0001fbfa", 2},      // not assigned yet: narrow, but for ideographs:
      {"\U0002fa20", 2},
      {"\ub098\u302e", 2},  // a tone mark beside a syllable
      {"\xff\xfe", 2},      // no UTF-8: one for each maximal invalid subpart
      {"\xe2\x82", 1},
      {"\x1b", 1},  // Printable shows one character for it
  };
  for (const auto& [text, width] : cases) EXPECT_EQ(DisplayWidth(text), width) << text;
}

// The search in them needs it.
TEST(WidthTable, RangesAscendWithoutOverlaps) {
  for (const auto ranges : {CharactersWithoutWidth(), WideCharacters()}) {
    ASSERT_GT(ranges.size(), 100U);
    ASSERT_LT(ranges.size(), 400U);
    for (const CodePointRange& range : ranges) EXPECT_LE(range.first, range.last);
    for (size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_GT(ranges[i].first, ranges[i - 1].last + 1);
    }
  }
}

TEST(Printable, LeavesNothingThatMovesTheCursor) {
  EXPECT_EQ(Printable("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(Printable("\x1b[31m\r\x7f"), "?[31m??");
  EXPECT_EQ(Printable("\u0085\u009b\u2028"), "???");
  EXPECT_EQ(Printable("\xff|\xe2\x82|"), "\ufffd|\ufffd|");
  EXPECT_EQ(Printable("\u65e5 e\u0301"), "\u65e5 e\u0301");
}

TEST(CutToWidth, CutsBehindAWholeCluster) {
  EXPECT_EQ(CutToWidth("abcdef", 6), "abcdef");
  EXPECT_EQ(CutToWidth("abcdef", 5), "abcd\u2026");
  EXPECT_EQ(CutToWidth("abcdef", 1), "\u2026");
  EXPECT_EQ(CutToWidth("abcdef", 0), "");
  EXPECT_EQ(CutToWidth("e\u0301e\u0301e\u0301", 2), "e\u0301\u2026");
  EXPECT_EQ(CutToWidth("\u65e5\u672c\u8a9e", 5), "\u65e5\u672c\u2026");
  EXPECT_EQ(CutToWidth("\u65e5\u672c\u8a9e", 4), "\u65e5\u2026");  // a column stays free
  EXPECT_EQ(CutToWidth("\U0001f469\u200d\U0001f52cab", 3), "\U0001f469\u200d\U0001f52c\u2026");
  EXPECT_EQ(CutToWidth("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 3),
            "\U0001f1e9\U0001f1ea\u2026");
  EXPECT_EQ(CutToWidth("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 2), "\u2026");  // no half flag
}

RC_GTEST_PROP(CutToWidth, IsNeverWiderThanAskedAndAlwaysUtf8, ()) {
  const std::string text = *HardText();
  const size_t columns = *rc::gen::inRange<size_t>(0, 30);
  const std::string cut = CutToWidth(text, columns);
  RC_ASSERT(IsUtf8(cut));
  RC_ASSERT(DisplayWidth(cut) <= columns);
  RC_ASSERT(Printable(cut) == cut);
  // It has as much as fits: what is whole stays whole, and what is cut has no room for another
  // cluster.
  const std::string whole = Printable(text);
  if (DisplayWidth(whole) <= columns) {
    RC_ASSERT(cut == whole);
  } else if (columns > 0) {
    RC_ASSERT(cut.ends_with("\u2026"));
    RC_ASSERT(whole.starts_with(cut.substr(0, cut.size() - std::string("\u2026").size())));
    constexpr size_t kWidestCluster = 3;  // of HardText
    RC_ASSERT(DisplayWidth(cut) + kWidestCluster > columns);
  }
}

RC_GTEST_PROP(Printable, IsUtf8OfTheSameWidthWhereNothingIsEscaped, ()) {
  const std::string text = *HardText();
  const std::string printable = Printable(text);
  RC_ASSERT(IsUtf8(printable));
  RC_ASSERT(Printable(printable) == printable);
  for (const char c : printable) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace
}  // namespace tandem::text
