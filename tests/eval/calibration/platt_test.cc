#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "eval/calibration/calibration.h"

namespace tandem::eval {
namespace {

// The derivatives of the objective of eval/calibration/calibration.h by scale and bias, relative to
// the total weight, term by term.
std::pair<double, double> Gradient(const std::vector<LabelledScore>& labelled,
                                   const LogisticMap& map) {
  double positives = 0, negatives = 0;
  for (const LabelledScore& one : labelled) {
    (one.label == 1 ? positives : negatives) += one.weight;
  }
  double by_scale = 0, by_bias = 0;
  for (const LabelledScore& one : labelled) {
    const double target = one.label == 1 ? (positives + 1) / (positives + 2) : 1 / (negatives + 2);
    const double difference = one.weight * (map(one.score) - target);
    by_scale += difference * one.score;
    by_bias += difference;
  }
  return {by_scale / (positives + negatives), by_bias / (positives + negatives)};
}

TEST(Platt, TheGradientIsZeroWhereItEnds) {
  RandomStream random({.seed = 3, .purpose = "platt"});
  for (int round = 0; round < 200; ++round) {
    const double spread = std::exp(6 * random.Uniform() - 3), shift = 10 * random.Uniform() - 5;
    std::vector<LabelledScore> labelled = {{.score = shift, .label = 1},
                                           {.score = shift + spread, .label = 0}};
    for (uint64_t i = random.Below(200); i > 0; --i) {
      const double z = 4 * random.Uniform() - 2;
      const bool positive = random.Uniform() < Logistic(3 * z - 2);
      labelled.push_back({.score = shift + spread * z,
                          .label = positive ? 1.0 : 0.0,
                          .weight = 0.1 + random.Uniform()});
    }
    const auto [by_scale, by_bias] = Gradient(labelled, FitPlatt(labelled));
    EXPECT_NEAR(by_scale / (std::abs(shift) + spread), 0, 1e-9);
    EXPECT_NEAR(by_bias, 0, 1e-9);
  }
}

// Two scores leave no error: the map goes through both targets, 2/3 and 1/3.
TEST(Platt, ScoresThatAThresholdSeparatesHaveAFiniteScale) {
  const LogisticMap map = FitPlatt(std::vector<LabelledScore>{{1, 1, 1}, {-1, 0, 1}});
  EXPECT_NEAR(map.scale, std::log(2), 1e-12);
  EXPECT_NEAR(map.bias, 0, 1e-12);
  // A thousand of each: 1001 / 1002.
  const LogisticMap many = FitPlatt(std::vector<LabelledScore>{{1, 1, 1000}, {-1, 0, 1000}});
  EXPECT_NEAR(many.scale, std::log(1001), 1e-9);
  // Further apart: the scale shrinks with the distance.
  const LogisticMap wide = FitPlatt(std::vector<LabelledScore>{{1e6, 1, 1}, {-1e6, 0, 1}});
  EXPECT_NEAR(wide.scale * 1e6, std::log(2), 1e-12);
}

TEST(Platt, EqualScoresSayTheMeanTarget) {
  // Targets 2/3 for the positive, 1/5 for the three negatives.
  const double target = (2.0 / 3 + 3 * 0.2) / 4;
  for (const double score : {0.0, 0.3, -1e9}) {
    const LogisticMap map =
        FitPlatt(std::vector<LabelledScore>{{score, 1, 1}, {score, 0, 2}, {score, 0, 1}});
    EXPECT_EQ(map.scale, 0);
    EXPECT_NEAR(map(score), target, 1e-12);
  }
}

TEST(Platt, AWeightIsSoManyDocuments) {
  const LogisticMap weighted =
      FitPlatt(std::vector<LabelledScore>{{0.1, 0, 3}, {0.4, 1, 1}, {0.5, 0, 1}, {0.9, 1, 2}});
  const LogisticMap repeated = FitPlatt(std::vector<LabelledScore>{
      {0.1, 0, 1}, {0.1, 0, 1}, {0.1, 0, 1}, {0.4, 1, 1}, {0.5, 0, 1}, {0.9, 1, 1}, {0.9, 1, 1}});
  EXPECT_NEAR(weighted.scale, repeated.scale, 1e-10);
  EXPECT_NEAR(weighted.bias, repeated.bias, 1e-10);
  // A label of 1/4 is a positive of weight 1/4 and a negative of weight 3/4.
  const LogisticMap shared =
      FitPlatt(std::vector<LabelledScore>{{0.2, 0.25, 4}, {0.7, 1, 1}, {0.5, 0, 1}});
  const LogisticMap split =
      FitPlatt(std::vector<LabelledScore>{{0.2, 1, 1}, {0.2, 0, 3}, {0.7, 1, 1}, {0.5, 0, 1}});
  EXPECT_NEAR(shared.scale, split.scale, 1e-10);
}

TEST(Platt, DataWithoutNegativesOrPositivesAreErrors) {
  const auto error = [](const std::vector<LabelledScore>& labelled) {
    std::string platt, isotonic;
    try {
      FitPlatt(labelled);
    } catch (const DataError& e) {
      platt = e.what();
    }
    try {
      FitIsotonic(labelled);
    } catch (const DataError& e) {
      isotonic = e.what();
    }
    EXPECT_EQ(platt, isotonic);
    return platt;
  };
  EXPECT_EQ(error({{0.5, 1, 1}, {0.7, 1, 1}}).find("calibration: all documents with a score are"),
            0U);
  EXPECT_EQ(error({{0.5, 0, 1}}).find("calibration: no positive has a score"), 0U);
  EXPECT_EQ(error({}).find("calibration: no positive has a score"), 0U);
}

TEST(Platt, ScoresThatAreNotFiniteAreErrors) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<LabelledScore> labelled = {{0.1, 0, 1}, {bad, 1, 1}};
    EXPECT_THROW(FitPlatt(labelled), NumericError);
    EXPECT_THROW(FitIsotonic(labelled), NumericError);
  }
  EXPECT_THROW(FitPlatt(std::vector<LabelledScore>{{1e200, 1, 1}, {-1e200, 0, 1}}), NumericError);
}

TEST(Logistic, IsExactAtBothEnds) {
  EXPECT_EQ(Logistic(0), 0.5);
  EXPECT_EQ(Logistic(1e4), 1);
  EXPECT_EQ(Logistic(-1e4), 0);
  EXPECT_NEAR(Logistic(-40) / std::exp(-40.0), 1, 1e-15);
}

}  // namespace
}  // namespace tandem::eval
