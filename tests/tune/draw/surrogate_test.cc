#include "tune/draw/surrogate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "config/test_catalogue.h"

namespace tandem::tune {
namespace {

ConfigurationPoint At(double x, double y = 0, const std::string& text = "a") {
  return {{.number = x, .text = ""}, {.number = y, .text = ""}, {.number = {}, .text = text}};
}

TEST(Likeness, IsThatByHand) {
  EXPECT_DOUBLE_EQ(Likeness(At(0.2), At(0.2)), 1);
  EXPECT_DOUBLE_EQ(Likeness(At(0, 0), At(0.3, 0.4)), std::exp(-0.25 / (2 * 0.49)));
  EXPECT_DOUBLE_EQ(Likeness(At(0, 0, "a"), At(0, 0, "b")), 0.7);
  ConfigurationPoint without = At(0);
  without[1] = {};  // a key that the recipe does not have
  EXPECT_DOUBLE_EQ(Likeness(without, At(0)), 0.7);
  EXPECT_DOUBLE_EQ(Likeness(without, without), 1);
}

// One point x with value v: mean and scale are v and 1, so that everywhere v is expected, and the
// deviation is the root of 1 - k^2 / 1.05. Two points have the inverse of a matrix of 2 x 2.
TEST(Surrogate, ExpectsWhatTheFormulaSays) {
  const Surrogate one({At(0.5)}, {0.8});
  EXPECT_DOUBLE_EQ(one.At(At(0.1)).mean, 0.8);
  EXPECT_NEAR(one.At(At(0.5)).deviation, std::sqrt(1 - 1 / 1.05), 1e-12);
  const Surrogate two({At(0), At(1)}, {0.2, 0.6});  // mean 0.4, deviation 0.2: -1 and 1
  const double across = std::exp(-1 / (2 * 0.49));
  const double own = std::exp(-0.0625 / (2 * 0.49)), other = std::exp(-0.5625 / (2 * 0.49));
  // (-1, 1) is an eigenvector of [[1.05, across], [across, 1.05]] for 1.05 - across.
  EXPECT_NEAR(two.At(At(0.25)).mean, 0.4 + 0.2 * (other - own) / (1.05 - across), 1e-12);
  const double determinant = 1.05 * 1.05 - across * across;
  const double explained =
      (1.05 * (own * own + other * other) - 2 * across * own * other) / determinant;
  EXPECT_NEAR(two.At(At(0.25)).deviation, 0.2 * std::sqrt(1 - explained), 1e-12);
}

TEST(Surrogate, PromisesMostNearTheBestAndTheFirstOfEqualOnes) {
  const Surrogate surrogate({At(0), At(0.5), At(1)}, {0.1, 0.5, 0.9});
  EXPECT_EQ(MostPromising(surrogate, {At(0.1), At(0.9), At(0.6)}), 1U);
  EXPECT_EQ(MostPromising(surrogate, {At(0.1), At(0.9), At(0.9)}), 1U);
}

// At 3 units the two that reached both gained 0.1 and 0.3, and at 9 one gained 0.1 more than that.
TEST(ComparableValues, TakeOffWhatLengthsBring) {
  const std::vector<double> values = ComparableValues(
      {{{1, 0.4}, {3, 0.5}, {9, 0.7}}, {{1, 0.3}, {3, 0.6}}, {{1, 0.2}}, {{9, 0.8}}});
  // Offsets: 3: mean of 0.1 and 0.3; 9: mean of 0.7 - 0.4 and 0.7 - 0.5 + 0.2.
  const double at3 = 0.2, at9 = (0.3 + 0.4) / 2;
  ASSERT_EQ(values.size(), 4U);
  EXPECT_NEAR(values[0], 0.7 - at9, 1e-12);
  EXPECT_NEAR(values[1], 0.6 - at3, 1e-12);
  EXPECT_NEAR(values[2], 0.2, 1e-12);
  EXPECT_NEAR(values[3], 0.8 - at9, 1e-12);
}

TEST(ComparableValues, WhatCannotBeTrainedIsBelowTheWorst) {
  const std::vector<double> values = ComparableValues({{{1, 0.4}}, {}, {{1, 0.6}}});
  EXPECT_NEAR(values[1], 0.4 - 0.1, 1e-12);  // a deviation of 0.1
  EXPECT_TRUE(ComparableValues({{}, {}}).empty());
}

TEST(ConfigurationPoints, LieWhereTheValuesAreInTheirKeys) {
  const config::LoadedTune tune =
      config::ParseTune(config::kLeast +
                            "[tune]\n"
                            "objective.name = [\"soft\", \"plain\"]\n"
                            "objective.temperature = [0.01, 0.02, 0.05]\n"
                            "optimizer.momentum = { from = 0.01, to = 1, log = true }\n"
                            "train.batch = [8, 80]\n",
                        "r.toml", {}, config::kTestCatalogues);
  const std::vector<ConfigurationPoint> points = PointsOf(
      tune,
      {{},
       {{"objective.temperature", "0.05"}, {"optimizer.momentum", "0.1"}, {"train.batch", "80"}},
       {{"objective.name", "\"plain\""}, {"train.batch", "8"}}});
  ASSERT_EQ(points.size(), 3U);
  ASSERT_EQ(points[0].size(), 4U);
  EXPECT_EQ(points[0][0].text, "\"soft\"");
  EXPECT_NEAR(*points[0][1].number, 0.25, 1e-12);  // the default, 0.02; from 0.01 to 0.05 evenly
  EXPECT_NEAR(*points[1][1].number, 1, 1e-12);
  EXPECT_NEAR(*points[1][2].number, 0.5, 1e-12);
  EXPECT_NEAR(*points[1][3].number, 1, 1e-12);
  EXPECT_EQ(points[2][0].text, "\"plain\"");
  EXPECT_EQ(points[2][1], Coordinate());  // an objective without a temperature
  EXPECT_NEAR(*points[2][3].number, 0, 1e-12);
}

}  // namespace
}  // namespace tandem::tune
