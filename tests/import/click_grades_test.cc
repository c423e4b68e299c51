#include "import/grades/click_grades.h"

#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::ElementsAre;
using testing::Eq;

constexpr std::nullopt_t kNone = std::nullopt;

// By hand: 110 clicks of 1,100 impressions, c = 0.1, k c = 1.
//   pair 0: (60 + 1) / (0.1 * 200 + 1) = 2.9   -> 2
//   pair 1: (30 + 1) / (0.1 * 200 + 1) = 1.48  -> 1
//   pair 2: (17 + 1) / (0.1 * 250 + 1) = 0.69  -> neither
//   pair 3: (3 + 1) / (0.1 * 400 + 1) = 0.10   -> 0
//   pair 4: (0 + 1) / (0.1 * 45 + 1) = 0.18    -> 0
//   pair 5: 5 impressions: too few
TEST(ClickTable, ComparesWithAnAverageDocument) {
  ClickTable table;
  table.Add(0, 40, 100, kNone);
  table.Add(0, 20, 100, kNone);
  table.Add(1, 30, 200, kNone);
  table.Add(2, 17, 250, kNone);
  table.Add(3, 3, 400, kNone);
  table.Add(4, 0, 45, kNone);
  table.Add(5, 0, 5, kNone);
  ClickCounts counts;
  EXPECT_THAT(table.Grades({.least_impressions = 10}, &counts),
              ElementsAre(Eq(2.0), Eq(1.0), Eq(kNone), Eq(0.0), Eq(0.0), Eq(kNone)));
  EXPECT_EQ(counts.pairs, 6U);
  EXPECT_EQ(counts.clicks, 110);
  EXPECT_EQ(counts.impressions, 1100);
  EXPECT_EQ(counts.few_impressions, 1U);
  EXPECT_EQ(counts.undecided, 1U);
  EXPECT_FALSE(counts.has_positions);
}

// A document that was never clicked is not called irrelevant where an average one would hardly have
// been clicked either: 12 impressions at the average rate of 0.1 are 1.2 clicks, (0 + 1) / (1.2 +
// 1) = 0.45; 10 are 1, 0.5.
TEST(ClickTable, LeavesOutWhatWasTooLittleShown) {
  ClickTable table;
  table.Add(0, 100, 978, kNone);
  table.Add(1, 0, 12, kNone);
  table.Add(2, 0, 10, kNone);
  ClickCounts counts;
  EXPECT_THAT(table.Grades({.least_impressions = 10}, &counts),
              ElementsAre(Eq(1.0), Eq(0.0), Eq(kNone)));
  EXPECT_EQ(counts.undecided, 1U);
}

// Both documents have the same click rate. The one that was shown low is the better one.
TEST(ClickTable, TakesThePositionOutOfTheRate) {
  ClickTable table;
  table.Add(0, 30, 100, 1);
  table.Add(1, 30, 100, 9.7);  // as place 10
  table.Add(2, 370, 900, 1);   // others: 0.4 at the first place, 0.05 at the tenth
  table.Add(3, 25, 1000, 10);
  ClickCounts counts;
  EXPECT_THAT(table.Grades({}, &counts), ElementsAre(Eq(kNone), Eq(2.0), Eq(1.0), Eq(kNone)));
  EXPECT_TRUE(counts.has_positions);
}

}  // namespace
}  // namespace tandem::import_data
