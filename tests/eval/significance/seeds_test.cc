#include "eval/significance/seeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "eval/significance/compare.h"
#include "eval/significance/mean_interval.h"

namespace tandem::eval {
namespace {

// Normal enough: the sum of twelve uniform numbers.
double Noise(RandomStream& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.Uniform();
  return sum;
}

Evaluation EvaluationOf(const std::vector<double>& values) {
  Evaluation evaluation;
  MeasureValues measure{.measure = ParseMeasure("ndcg@10")};
  for (size_t q = 0; q < values.size(); ++q) {
    evaluation.queries.push_back("q" + std::to_string(1000 + q));
    measure.per_query.push_back(values[q]);
  }
  evaluation.measures.push_back(measure);
  return evaluation;
}

System RecipeOf(const char* name, const std::vector<std::vector<double>>& seeds) {
  System system{.name = name};
  for (const std::vector<double>& values : seeds) system.seeds.push_back(EvaluationOf(values));
  system.evaluation = MeanOverSeeds(system.seeds);
  return system;
}

TEST(Seeds, AQuerysValueIsItsMean) {
  const Evaluation mean = MeanOverSeeds(
      std::vector{EvaluationOf({0, 1}), EvaluationOf({0.5, 1}), EvaluationOf({1, 0.4})});
  EXPECT_DOUBLE_EQ(*mean.measures[0].per_query[0], 0.5);
  EXPECT_DOUBLE_EQ(*mean.measures[0].per_query[1], 0.8);
  EXPECT_DOUBLE_EQ(*mean.measures[0].mean, 0.65);
}

TEST(Seeds, AMeasureThatPoolsHasNoMean) {
  Evaluation pooled = EvaluationOf({1, 0});
  pooled.measures[0].per_query.clear();
  EXPECT_THROW(MeanOverSeeds(std::vector{pooled}), UsageError);
}

TEST(Seeds, OneSeedEachIsTheIntervalOfTheDifferences) {
  RandomStream random({.seed = 1, .purpose = "values"});
  std::vector<double> a, b, differences;
  for (int q = 0; q < 50; ++q) {
    a.push_back(Noise(random));
    b.push_back(a.back() + 0.1 * Noise(random));
    differences.push_back(b.back() - a.back());
  }
  const BootstrapOptions options{.seed = 3, .resamples = 500};
  const Interval over = IntervalOverSeeds(std::vector<std::vector<double>>{a},
                                          std::vector<std::vector<double>>{b}, options);
  const Interval plain = PercentileInterval(ResampledMeans(differences, options), 0.95);
  EXPECT_NEAR(over.low, plain.low, 1e-12);
  EXPECT_NEAR(over.high, plain.high, 1e-12);
}

// Two recipes that are the same, whose seeds differ more than queries do. By queries alone three of
// a hundred comparisons or so would find no difference; over seeds few find one.
TEST(Seeds, TwoRecipesThatAreTheSameDoNotDiffer) {
  constexpr int kSeeds = 5, kTrials = 100;
  RandomStream random({.seed = 5, .purpose = "trials"});
  const auto draw = [&](const char* name) {
    std::vector<std::vector<double>> seeds;
    for (int s = 0; s < kSeeds; ++s) {
      const double of_seed = 0.05 * Noise(random);
      std::vector<double>& values = seeds.emplace_back();
      for (int q = 0; q < 100; ++q) values.push_back(0.5 + of_seed + 0.05 * Noise(random));
    }
    return RecipeOf(name, seeds);
  };
  int by_queries = 0, by_both = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<System> systems = {draw("a"), draw("b")};
    const Comparison comparison =
        Compare(systems, {.seed = 1, .permutations = 400, .resamples = 400});
    const MeasureDifference& found = comparison.systems[0].measures[0];
    EXPECT_TRUE(found.over_seeds);
    by_queries += found.holm_p < 0.05;
    by_both += found.Significant(0.95);
  }
  EXPECT_GT(by_queries, 50);
  EXPECT_LT(by_both, 15);
}

TEST(Seeds, ADifferenceBeyondTheSpreadIsSeen) {
  std::vector<std::vector<double>> a, b;
  for (int s = 0; s < 3; ++s) {
    a.emplace_back();
    b.emplace_back();
    for (int q = 0; q < 40; ++q) {
      a.back().push_back(0.4 + 0.01 * s + 0.002 * (q % 5));
      b.back().push_back(0.6 + 0.01 * s + 0.002 * (q % 7));
    }
  }
  const std::vector<System> systems = {RecipeOf("a", a), RecipeOf("b", b)};
  const Comparison comparison =
      Compare(systems, {.seed = 1, .permutations = 1000, .resamples = 1000});
  const MeasureDifference& found = comparison.systems[0].measures[0];
  EXPECT_TRUE(found.Significant(0.95));
  EXPECT_GT(found.interval.low, 0.15);
  EXPECT_LT(found.interval.high, 0.25);
}

// scipy.stats.t.interval(0.95, 2, loc=2, scale=1/sqrt(3)): 2 ± 4.302653 / 1.732051.
TEST(MeanInterval, OfThreeValues) {
  const MeanSpread spread = SpreadOf(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(spread.mean, 2);
  EXPECT_DOUBLE_EQ(*spread.standard_deviation, 1);
  EXPECT_NEAR(spread.interval->low, 2 - 2.484138, 1e-6);
  EXPECT_NEAR(spread.interval->high, 2 + 2.484138, 1e-6);
}

TEST(MeanInterval, OneValueHasNone) {
  const MeanSpread spread = SpreadOf(std::vector<double>{0.5});
  EXPECT_EQ(spread.mean, 0.5);
  EXPECT_FALSE(spread.standard_deviation);
  EXPECT_FALSE(spread.interval);
}

}  // namespace
}  // namespace tandem::eval
