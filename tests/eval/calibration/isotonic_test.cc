#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "eval/calibration/calibration.h"

namespace tandem::eval {
namespace {

// Up to `most` scores of few levels, so that ties occur, with at least one positive and one
// negative.
std::vector<LabelledScore> AnyLabelled(size_t most) {
  const auto score = rc::gen::map(rc::gen::inRange(0, 9), [](int level) { return level / 8.0; });
  const auto one = rc::gen::map(
      rc::gen::tuple(score, rc::gen::inRange(0, 2), rc::gen::inRange(1, 4)), [](const auto& t) {
        return LabelledScore{.score = std::get<0>(t),
                             .label = static_cast<double>(std::get<1>(t)),
                             .weight = static_cast<double>(std::get<2>(t))};
      });
  const auto count = *rc::gen::inRange<size_t>(0, most - 1);
  auto labelled = *rc::gen::container<std::vector<LabelledScore>>(count, one);
  labelled.push_back({.score = *score, .label = 1});
  labelled.push_back({.score = *score, .label = 0});
  return labelled;
}

double SquaredLoss(const std::vector<LabelledScore>& labelled,
                   const std::map<double, double>& value_of) {
  double loss = 0;
  for (const LabelledScore& one : labelled) {
    const double difference = one.label - value_of.at(one.score);
    loss += one.weight * difference * difference;
  }
  return loss;
}

// The least loss of all maps that never fall, by the definition: such a map is a partition of the
// ascending scores into runs, each with its weighted mean, whose means never fall.
double LeastLoss(const std::vector<LabelledScore>& labelled) {
  std::map<double, std::pair<double, double>> sums;  // by score: weighted labels, weight
  for (const LabelledScore& one : labelled) {
    sums[one.score].first += one.weight * one.label;
    sums[one.score].second += one.weight;
  }
  const std::vector<std::pair<double, std::pair<double, double>>> scores(sums.begin(), sums.end());
  double least = std::numeric_limits<double>::infinity();
  for (size_t cuts = 0; cuts < size_t{1} << (scores.size() - 1); ++cuts) {
    std::map<double, double> value_of;
    double before = 0;
    bool ascends = true;
    for (size_t first = 0; first < scores.size();) {
      size_t end = first + 1;
      while (end < scores.size() && (cuts >> (end - 1) & 1) == 0) ++end;
      double weighted = 0, weight = 0;
      for (size_t i = first; i < end; ++i) {
        weighted += scores[i].second.first;
        weight += scores[i].second.second;
      }
      for (size_t i = first; i < end; ++i) value_of[scores[i].first] = weighted / weight;
      ascends &= weighted / weight >= before;
      before = weighted / weight;
      first = end;
    }
    if (ascends) least = std::min(least, SquaredLoss(labelled, value_of));
  }
  return least;
}

RC_GTEST_PROP(Isotonic, IsTheBestMapThatNeverFalls, ()) {
  const std::vector<LabelledScore> labelled = AnyLabelled(12);
  const IsotonicMap map = FitIsotonic(labelled);
  std::map<double, double> value_of;
  for (const LabelledScore& one : labelled) value_of[one.score] = map(one.score);
  RC_ASSERT(std::abs(SquaredLoss(labelled, value_of) - LeastLoss(labelled)) < 1e-9);
}

RC_GTEST_PROP(Isotonic, NeverFallsAndStaysBetweenItsEnds, ()) {
  const IsotonicMap map = FitIsotonic(AnyLabelled(40));
  RC_ASSERT(map.scores.size() == map.probabilities.size());
  RC_ASSERT(std::adjacent_find(map.scores.begin(), map.scores.end(), std::greater_equal<>()) ==
            map.scores.end());
  RC_ASSERT(std::is_sorted(map.probabilities.begin(), map.probabilities.end()));
  double before = 0;
  for (int i = -10; i <= 130; ++i) {
    const double probability = map(i / 97.0);
    RC_ASSERT(probability >= before);
    RC_ASSERT(probability <= 1);
    before = probability;
  }
  RC_ASSERT(map(-5) == map.probabilities.front());
  RC_ASSERT(map(5) == map.probabilities.back());
}

// A fit of its own values is the same map.
RC_GTEST_PROP(Isotonic, IsIdempotent, ()) {
  const std::vector<LabelledScore> labelled = AnyLabelled(40);
  const IsotonicMap map = FitIsotonic(labelled);
  std::vector<LabelledScore> fitted = labelled;
  for (LabelledScore& one : fitted) one.label = map(one.score);
  const IsotonicMap again = FitIsotonic(fitted);
  for (const LabelledScore& one : labelled) {
    RC_ASSERT(std::abs(again(one.score) - map(one.score)) < 1e-12);
  }
}

// The order of the documents changes nothing, not even the last bit.
RC_GTEST_PROP(Isotonic, DoesNotDependOnTheOrder, ()) {
  std::vector<LabelledScore> labelled = AnyLabelled(20);
  for (LabelledScore& one : labelled) one.weight /= 3;
  const IsotonicMap map = FitIsotonic(labelled);
  std::reverse(labelled.begin(), labelled.end());
  const IsotonicMap reversed = FitIsotonic(labelled);
  RC_ASSERT(map.scores == reversed.scores);
  RC_ASSERT(map.probabilities == reversed.probabilities);
}

TEST(Isotonic, KeepsBothEndsOfARunAndInterpolatesBetweenRuns) {
  // 0.1 and 0.3 share the value 0; 0.4 and 0.6 would fall and share 1/2; 0.8 has 1.
  const IsotonicMap map = FitIsotonic(
      std::vector<LabelledScore>{{0.1, 0, 1}, {0.3, 0, 1}, {0.4, 1, 1}, {0.6, 0, 1}, {0.8, 1, 1}});
  EXPECT_EQ(map.scores, (std::vector<double>{0.1, 0.3, 0.4, 0.6, 0.8}));
  EXPECT_EQ(map.probabilities, (std::vector<double>{0, 0, 0.5, 0.5, 1}));
  EXPECT_EQ(map(0.2), 0);
  EXPECT_NEAR(map(0.35), 0.25, 1e-12);
  EXPECT_EQ(map(0.5), 0.5);
  EXPECT_NEAR(map(0.75), 0.875, 1e-12);
  EXPECT_EQ(map(0), 0);
  EXPECT_EQ(map(7), 1);
}

TEST(Isotonic, OneScoreIsOnePoint) {
  const IsotonicMap map =
      FitIsotonic(std::vector<LabelledScore>{{0.5, 1, 1}, {0.5, 0, 2}, {0.5, 0, 1}});
  EXPECT_EQ(map.scores, std::vector<double>{0.5});
  EXPECT_EQ(map.probabilities, std::vector<double>{0.25});
  EXPECT_EQ(map(-1), 0.25);
  EXPECT_EQ(map(1), 0.25);
}

}  // namespace
}  // namespace tandem::eval
