#include "tune/schedule/brackets.h"

#include <gtest/gtest.h>

namespace tandem::tune {
namespace {

TEST(Brackets, AreThoseOfHyperbandsPaper) {
  // Li et al. 2018, table 1: R = 81, eta = 3.
  const std::vector<Bracket> brackets = HyperbandBrackets(5, 1000);
  ASSERT_EQ(brackets.size(), 5U);
  EXPECT_EQ(brackets[0].rungs, (std::vector<Rung>{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}}));
  EXPECT_EQ(brackets[1].rungs, (std::vector<Rung>{{34, 3}, {11, 9}, {3, 27}, {1, 81}}));
  EXPECT_EQ(brackets[2].rungs, (std::vector<Rung>{{15, 9}, {5, 27}, {1, 81}}));
  EXPECT_EQ(brackets[3].rungs, (std::vector<Rung>{{8, 27}, {2, 81}}));
  EXPECT_EQ(brackets[4].rungs, (std::vector<Rung>{{5, 81}}));
  EXPECT_EQ(TrialsOf(brackets), 81 + 34 + 15 + 8 + 5);
}

TEST(Brackets, ATrialPaysOnlyForWhatIsNew) {
  // 9 trials of one unit, 3 go on for two more, 1 for six more.
  EXPECT_EQ(UnitsOf(MakeBracket(9, 3, 3)), 9 + 3 * 2 + 6);
  EXPECT_EQ(UnitsOf(MakeBracket(5, 2, 3)), 5 * 3 + 6);
  EXPECT_EQ(UnitsOf(MakeBracket(1, 3, 3)), FullUnits(3));
  EXPECT_EQ(FullUnits(1), 1);
}

TEST(Brackets, AreCutWhereTheSpaceEnds) {
  const std::vector<Bracket> brackets = HyperbandBrackets(3, 11);
  ASSERT_EQ(brackets.size(), 2U);
  EXPECT_EQ(brackets[1].rungs, (std::vector<Rung>{{2, 3}, {1, 9}}));
  EXPECT_EQ(TrialsOf(brackets), 11);
}

TEST(Brackets, ABudgetIsUsedAndNeverExceeded) {
  for (int64_t rungs = 1; rungs <= 4; ++rungs) {
    const int64_t full = FullUnits(rungs);
    EXPECT_TRUE(BracketsFor(full - 1, rungs, 1000).empty());
    int64_t before = 0;
    for (int64_t units = full; units < 12 * full; ++units) {
      const std::vector<Bracket> brackets = BracketsFor(units, rungs, 1000);
      ASSERT_FALSE(brackets.empty());
      EXPECT_LE(UnitsOf(brackets), units);
      EXPECT_GT(UnitsOf(brackets), units - full);
      EXPECT_EQ(brackets.front().rungs.size(), static_cast<size_t>(rungs));
      EXPECT_EQ(brackets.front().rungs.back().units, full);
      for (size_t i = 1; i < brackets.size(); ++i) {
        EXPECT_EQ(brackets[i].rungs, (std::vector<Rung>{{1, full}}));
      }
      if (brackets.size() == 1) {
        EXPECT_GE(TrialsOf(brackets), before);
        before = TrialsOf(brackets);
      }
    }
  }
}

TEST(Brackets, OfThreeRungsAtSomeBudgets) {
  const Bracket one = MakeBracket(1, 1, 3);
  EXPECT_EQ(BracketsFor(9, 3, 99), (std::vector<Bracket>{MakeBracket(1, 3, 3)}));
  EXPECT_EQ(BracketsFor(21, 3, 99), (std::vector<Bracket>{MakeBracket(9, 3, 3)}));
  // Two full runs beside 21 units, and 3 left over, which are three trials more at the first
  // length.
  EXPECT_EQ(BracketsFor(42, 3, 99), (std::vector<Bracket>{MakeBracket(11, 3, 3), one, one}));
  // A quarter of 270 is 29 trials, 29 + 9 * 2 + 3 * 6 = 65; of what 22 full runs leave, 72, there
  // are 32 trials, 32 + 10 * 2 + 3 * 6 = 70.
  EXPECT_EQ(BracketsFor(270, 3, 99).front(), MakeBracket(32, 3, 3));
  EXPECT_EQ(BracketsFor(270, 3, 99).size(), 23U);
}

// Of four configurations one comes to the full length by halving; the other three can come to it
// after that, and no more.
TEST(Brackets, FullRunsGoOnWhereEveryConfigurationHasBegun) {
  const Bracket one = MakeBracket(1, 1, 3);
  const Bracket first = MakeBracket(4, 3, 3);
  ASSERT_EQ(UnitsOf(first), 12);
  EXPECT_EQ(BracketsFor(20, 3, 4), (std::vector<Bracket>{first}));
  EXPECT_EQ(BracketsFor(21, 3, 4), (std::vector<Bracket>{first, one}));
  EXPECT_EQ(BracketsFor(30, 3, 4), (std::vector<Bracket>{first, one, one}));
  EXPECT_EQ(BracketsFor(39, 3, 4), (std::vector<Bracket>{first, one, one, one}));
  EXPECT_EQ(BracketsFor(500, 3, 4), (std::vector<Bracket>{first, one, one, one}));
  EXPECT_EQ(FullTrialsOf(BracketsFor(500, 3, 4)), 4);
}

}  // namespace
}  // namespace tandem::tune
