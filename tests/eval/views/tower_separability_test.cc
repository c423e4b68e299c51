#include "eval/views/tower_separability.h"

#include <gtest/gtest.h>

#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

TEST(LinearSeparability, OneForTowersThatAreApart) {
  const UnitRows queries = Unit(RandomRows(40, 6, 1, 0.3, {1, 0, 0, 0, 0, 0}), 6);
  const UnitRows positives = Unit(RandomRows(40, 6, 2, 0.3, {0, 1, 0, 0, 0, 0}), 6);
  EXPECT_EQ(LinearSeparability(queries, positives, {}), 1);
}

TEST(LinearSeparability, HalfForOneTower) {
  const UnitRows rows = Unit(RandomRows(41, 6, 1), 6);
  EXPECT_EQ(LinearSeparability(rows, rows, {}), 0.5);
}

TEST(LinearSeparability, AboutHalfForTwoDrawsOfTheSameSpace) {
  const UnitRows queries = Unit(RandomRows(2000, 5, 1), 5);
  const UnitRows positives = Unit(RandomRows(2000, 5, 2), 5);
  // The share of 4,000 coins has a deviation of 0.008.
  EXPECT_NEAR(*LinearSeparability(queries, positives, {}), 0.5, 0.03);
}

TEST(LinearSeparability, AsksRowsThatWereNotLearned) {
  // With more coordinates than rows, any two sets can be told apart by who has seen them.
  const UnitRows queries = Unit(RandomRows(30, 200, 1), 200);
  const UnitRows positives = Unit(RandomRows(30, 200, 2), 200);
  EXPECT_NEAR(*LinearSeparability(queries, positives, {}), 0.5, 0.25);
}

TEST(LinearSeparability, WhatTellsThemApartMayBeSmall) {
  // The first coordinate is broad and says nothing, the last is narrow and says all: a plane
  // half-way between the means without the covariance would not see it.
  RandomStream random({.seed = 5, .purpose = "separability test"});
  std::vector<float> queries, positives;
  for (int i = 0; i < 200; ++i) {
    for (auto* tower : {&queries, &positives}) {
      const double broad = 2 * random.Uniform() - 1;
      const double side = tower == &queries ? -0.04 : 0.04;
      tower->push_back(static_cast<float>(broad));
      tower->push_back(2);
      tower->push_back(static_cast<float>(side));
    }
  }
  EXPECT_EQ(LinearSeparability(Unit(queries, 3), Unit(positives, 3), {.shrinkage = 1e-6}), 1);
}

TEST(LinearSeparability, ThreadsChangeNothingAndTheSeedDecidesTheFolds) {
  const UnitRows queries = Unit(RandomRows(300, 10, 1, 1, std::vector<double>(10, 0.1)), 10);
  const UnitRows positives = Unit(RandomRows(300, 10, 2), 10);
  const auto one = LinearSeparability(queries, positives, {});
  for (int threads : {2, 3, 8}) {
    EXPECT_EQ(LinearSeparability(queries, positives, {.threads = threads}), one);
  }
  bool differs = false;
  for (uint64_t seed = 2; seed < 8; ++seed) {
    differs = differs || LinearSeparability(queries, positives, {.seed = seed}) != one;
  }
  EXPECT_TRUE(differs);
}

TEST(LinearSeparability, Degenerate) {
  const UnitRows one = Unit({1, 0}, 2);
  EXPECT_EQ(LinearSeparability(one, one, {}), std::nullopt);
  const UnitRows north(Unit({0, 1, 0, 1, 0, 1}, 2)), east(Unit({1, 0, 1, 0, 1, 0}, 2));
  EXPECT_EQ(LinearSeparability(north, east, {}), 1);  // each tower is one point
  EXPECT_EQ(LinearSeparability(north, north, {}), 0.5);
  const UnitRows zeros = Unit({0, 0, 0, 0}, 2);
  EXPECT_EQ(LinearSeparability(zeros, zeros, {}), 0.5);
}

}  // namespace
}  // namespace tandem::eval
