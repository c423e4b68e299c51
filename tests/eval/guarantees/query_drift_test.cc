#include "eval/guarantees/query_drift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace tandem::eval {
namespace {

std::vector<float> Uniforms(RandomStream& random, size_t count, float from = 0) {
  std::vector<float> scores(count);
  for (float& score : scores) score = from + static_cast<float>(random.Uniform());
  return scores;
}

TEST(QueryDrift, BeforeTheFirstQueryNothingIsKnown) {
  const QueryDrift drift(std::vector<float>{0.25F, 0.5F});
  EXPECT_EQ(drift.queries(), 0U);
  EXPECT_EQ(drift.capital(), 1);
  EXPECT_EQ(drift.highest_capital(), 1);
  EXPECT_FALSE(drift.alarm());
  EXPECT_EQ(drift.distance(), 0);
}

// Scores that become lower, or higher, are seen within 60 queries, also after a thousand good ones.
TEST(QueryDrift, SeesOtherQueries) {
  for (const float shift : {-0.6F, 0.6F}) {
    for (const size_t before : {0U, 1000U}) {
      RandomStream random({.seed = 3, .purpose = "drift"});
      QueryDrift drift(Uniforms(random, 500));
      for (const float score : Uniforms(random, before)) drift.Add(score);
      EXPECT_FALSE(drift.alarm());
      for (const float score : Uniforms(random, 60, shift)) drift.Add(score);
      EXPECT_TRUE(drift.alarm()) << shift << " " << before;
      EXPECT_EQ(drift.queries(), before + 60);
    }
  }
}

// Neither moves the mean: one query again and again, and scores that are low or high and never
// between.
TEST(QueryDrift, SeesAShiftIntoTheMiddleOrToTheEnds) {
  for (const size_t before : {0U, 1000U}) {
    RandomStream random({.seed = 4, .purpose = "drift"});
    QueryDrift middle(Uniforms(random, 500));
    for (const float score : Uniforms(random, before)) middle.Add(score);
    EXPECT_FALSE(middle.alarm());
    for (int i = 0; i < 60; ++i) middle.Add(0.5F);
    EXPECT_TRUE(middle.alarm()) << before;
    QueryDrift ends(Uniforms(random, 500));
    for (const float score : Uniforms(random, before)) ends.Add(score);
    EXPECT_FALSE(ends.alarm());
    for (const float score : Uniforms(random, 60))
      ends.Add(score < 0.5F ? score / 5 : 1 - score / 10);
    EXPECT_TRUE(ends.alarm()) << before;
  }
}

TEST(QueryDrift, AnAlarmStays) {
  RandomStream random({.seed = 3, .purpose = "drift"});
  QueryDrift drift(Uniforms(random, 500));
  for (const float score : Uniforms(random, 60, -0.6F)) drift.Add(score);
  const double highest = drift.highest_capital();
  for (const float score : Uniforms(random, 2000)) drift.Add(score);
  EXPECT_LT(drift.capital(), highest);
  EXPECT_GE(drift.highest_capital(), highest);
  EXPECT_TRUE(drift.alarm());
}

// The sum of the seven bets' capitals after one more round.
double Bet(std::vector<double>& capitals, double p) {
  const double sum = std::accumulate(capitals.begin(), capitals.end(), 0.0);
  for (double& capital : capitals) capital = 0.99 * capital + 0.01 * sum / 7;
  capitals[0] *= 0.5 / std::sqrt(p);
  capitals[1] *= 0.8 * std::pow(p, -0.2);
  capitals[2] *= 0.5 / std::sqrt(1 - p);
  capitals[3] *= 0.8 * std::pow(1 - p, -0.2);
  capitals[4] *= 0.5 / std::sqrt(std::abs(2 * p - 1));
  capitals[5] *= 0.5 / std::sqrt(1 - std::abs(2 * p - 1));
  return std::accumulate(capitals.begin(), capitals.end(), 0.0);
}

// Two rounds by hand, of two calibration scores: the third score lies between them, so that p is in
// (1/3, 2/3), the fourth below all, so that it is in (0, 1/4).
TEST(QueryDrift, BetsAsTheFormulaSays) {
  QueryDrift drift(std::vector<float>{0.25F, 0.75F}, 5);
  RandomStream random({.seed = 5, .purpose = "drift"});
  random.Next(), random.Next();  // of the calibration
  std::vector<double> capitals(7, 1.0 / 7);
  drift.Add(0.5F);
  EXPECT_NEAR(drift.capital(), Bet(capitals, (1 + random.Uniform()) / 3), 1e-12);
  drift.Add(0.125F);
  EXPECT_NEAR(drift.capital(), Bet(capitals, random.Uniform() / 4), 1e-12);
}

TEST(QueryDrift, TheDistanceIsOfTheLastThousand) {
  RandomStream random({.seed = 9, .purpose = "distance"});
  const std::vector<float> calibration = Uniforms(random, 300);
  QueryDrift drift(calibration);
  for (const float score : Uniforms(random, 700, 5)) drift.Add(score);
  EXPECT_EQ(drift.distance(), 1);
  const std::vector<float> last = Uniforms(random, QueryDrift::kWindow, 0.25F);
  for (const float score : last) drift.Add(score);
  const auto below = [](const std::vector<float>& scores, float score) {
    const auto count =
        std::count_if(scores.begin(), scores.end(), [score](float one) { return one <= score; });
    return static_cast<double>(count) / static_cast<double>(scores.size());
  };
  double distance = 0;
  for (const auto* scores : {&calibration, &last}) {
    for (const float score : *scores) {
      distance = std::max(distance, std::abs(below(calibration, score) - below(last, score)));
    }
  }
  EXPECT_NEAR(drift.distance(), distance, 1e-12);
}

// -2 < -1.5 < -1 < -0 = 0 < 1 < 2: the scores of dot products.
TEST(QueryDrift, NegativeScoresAndZerosHaveTheirPlace) {
  const std::vector<float> calibration = {-1.0F, -0.0F, 0.0F, 1.0F, -1.5F};
  struct Case {
    float score;
    double below, equal;
  };
  for (const Case& one : {Case{-2, 0, 0}, {-1.5F, 0, 1}, {-0.0F, 2, 2}, {0, 2, 2}, {2, 5, 0}}) {
    QueryDrift drift(calibration, 1);
    RandomStream random({.seed = 1, .purpose = "drift"});
    for (size_t i = 0; i < calibration.size(); ++i) random.Next();
    drift.Add(one.score);
    std::vector<double> capitals(7, 1.0 / 7);
    EXPECT_NEAR(drift.capital(),
                Bet(capitals, (one.below + random.Uniform() * (one.equal + 1)) / 6), 1e-12)
        << one.score;
  }
}

}  // namespace
}  // namespace tandem::eval
