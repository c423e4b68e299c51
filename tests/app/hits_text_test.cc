#include "app/hits_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::app {
namespace {

TEST(OneLine, CutsBetweenWords) {
  EXPECT_EQ(OneLine("alpha beta gamma", 16), "alpha beta gamma");
  EXPECT_EQ(OneLine("alpha beta gamma", 15), "alpha beta…");
  EXPECT_EQ(OneLine("alpha beta gamma", 11), "alpha beta…");
  EXPECT_EQ(OneLine("alpha beta gamma", 10), "alpha…");  // "alpha beta…" would be 11
  EXPECT_EQ(OneLine("  alpha\n\tbeta ", 20), "alpha beta");
  EXPECT_EQ(OneLine("", 20), "");
}

TEST(OneLine, CutsWithinAWordThatIsLongerThanALine) {
  EXPECT_EQ(OneLine("abcdefghij", 6), "abcde…");
  EXPECT_EQ(OneLine("ab cdefghij", 6), "ab…");
}

// Columns, not bytes: accents of their own take none, wide characters two.
TEST(OneLine, CountsColumns) {
  EXPECT_EQ(OneLine("été été", 7), "été été");
  EXPECT_EQ(OneLine("e\u0301te\u0301 x", 5), "e\u0301te\u0301 x");
  EXPECT_EQ(OneLine("日本語", 6), "日本語");
  EXPECT_EQ(OneLine("日本語", 5), "日本…");
  EXPECT_EQ(OneLine("\xff\xfe abc", 6), "\xff\xfe abc");  // no UTF-8: a column each
}

TEST(HitsText, TextsBeginInOneColumnWhateverIdsAndScoresAre) {
  const std::vector<ShownHit> hits = {{12.5, "d1", "alpha beta gamma delta epsilon zeta eta"},
                                      {-0.25, "d12345", "alpha"}};
  EXPECT_EQ(HitsText(hits, 60),
            "   1  12.5000  d1      alpha beta gamma delta epsilon zeta…\n"
            "   2  -0.2500  d12345  alpha\n");
}

TEST(HitsText, LongIdsLeaveTheTextALineOfItsOwn) {
  const std::string id(40, 'x');
  const std::vector<ShownHit> hits = {{0.5, id, "alpha beta"}, {0.4, "d", ""}};
  EXPECT_EQ(HitsText(hits, 80), "   1  0.5000  " + id + "\n      alpha beta\n   2  0.4000  d\n");
}

}  // namespace
}  // namespace tandem::app
