#include "eval/significance/significance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/random.h"
#include "eval/random_samples.h"
#include "eval/significance/swap_test.h"

namespace tandem::eval {
namespace {

using testing::ElementsAre;

std::vector<double> NormalDifferences(uint64_t seed, size_t count, double mean) {
  RandomStream random({.seed = seed, .purpose = "differences"});
  std::vector<double> differences(count);
  for (double& difference : differences) difference = mean + Normal(random);
  return differences;
}

// p by looking at every sign pattern, differences of 0 included.
double ByAllPatterns(const std::vector<double>& differences) {
  double observed = 0;
  for (const double difference : differences) observed += difference;
  size_t far = 0;
  const size_t patterns = size_t{1} << differences.size();
  for (size_t bits = 0; bits < patterns; ++bits) {
    double sum = 0;
    for (size_t i = 0; i < differences.size(); ++i) {
      sum += (bits >> i & 1) != 0 ? differences[i] : -differences[i];
    }
    far += std::abs(sum) > std::abs(observed) - 1e-9;
  }
  return static_cast<double>(far) / static_cast<double>(patterns);
}

// tools/golden/make_significance_golden.py made the values by scipy.
TEST(SignFlipTest, IsScipysPermutationTest) {
  const auto golden = nlohmann::json::parse(
      ReadFile(std::string(TANDEM_SOURCE_DIR) + "/tests/eval/significance.json"));
  ASSERT_GE(golden.size(), 5);
  for (const auto& test : golden) {
    const auto differences = test["differences"].get<std::vector<double>>();
    const TestResult result = SignFlipTest(differences, {.seed = 1, .permutations = 200'000});
    EXPECT_EQ(result.exact, test["exact"].get<bool>()) << test["name"];
    const double p = test["permutation_test"];
    // Drawn patterns of both: five deviations of the difference.
    const double room = result.exact ? 1e-12 : 5 * std::sqrt(2 * p * (1 - p) / 200'000);
    EXPECT_NEAR(result.p_value, p, room) << test["name"];
    EXPECT_NEAR(*CohensDz(differences), test["d_z"].get<double>(), 1e-12) << test["name"];
    // The t-test is another one; with many normal differences both say the same.
    if (test["normal"].get<bool>()) {
      EXPECT_NEAR(result.p_value, test["ttest"].get<double>(), 0.01) << test["name"];
    }
  }
}

TEST(SignFlipTest, LooksAtAllPatternsOfFewDifferences) {
  const std::vector<double> differences = {0.5, -0.25, 0, 1, 0.125, 0, -0.5, 0.75};
  const TestResult result = SignFlipTest(differences, {.permutations = 1000});
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.permutations, 64);  // of the six that are not 0
  EXPECT_DOUBLE_EQ(result.p_value, ByAllPatterns(differences));
  EXPECT_FALSE(SignFlipTest(differences, {.permutations = 63}).exact);
}

TEST(SignFlipTest, DrawnPatternsComeNearAllPatterns) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<double> differences = NormalDifferences(seed, 14, 0.4);
    const double exact = ByAllPatterns(differences);
    const TestResult drawn =
        SignFlipTest(differences, {.seed = seed, .permutations = 16'000, .threads = 2});
    ASSERT_FALSE(drawn.exact);
    EXPECT_NEAR(drawn.p_value, exact, 5 * std::sqrt(exact * (1 - exact) / 16'000) + 1e-4) << seed;
  }
}

TEST(SignFlipTest, ThePatternObservedIsOneOfThoseDrawn) {
  const TestResult result =
      SignFlipTest(NormalDifferences(1, 500, 5), {.permutations = 999, .threads = 2});
  EXPECT_DOUBLE_EQ(result.p_value, 1 / 1000.0);
}

TEST(SignFlipTest, SwappingTheSystemsChangesNoPAndThreadsNeither) {
  std::vector<double> differences = NormalDifferences(2, 301, 0.1);
  const TestOptions options{.seed = 3, .permutations = 20'000};
  const double p = SignFlipTest(differences, options).p_value;
  EXPECT_EQ(SignFlipTest(differences, {.seed = 3, .permutations = 20'000, .threads = 3}).p_value,
            p);
  EXPECT_NE(SignFlipTest(differences, {.seed = 4, .permutations = 20'000}).p_value, p);
  const double effect = *CohensDz(differences);
  for (double& difference : differences) difference = -difference;
  EXPECT_EQ(SignFlipTest(differences, options).p_value, p);
  EXPECT_EQ(*CohensDz(differences), -effect);
}

TEST(SignFlipTest, WithoutADifferencePIsOne) {
  EXPECT_EQ(SignFlipTest(std::vector<double>(1000, 0.0), {}).p_value, 1);
  EXPECT_EQ(SignFlipTest({}, {}).p_value, 1);
  EXPECT_EQ(CohensDz(std::vector<double>(10, 0.5)), std::nullopt);
  EXPECT_EQ(CohensDz(std::vector<double>(1, 0.5)), std::nullopt);
}

TEST(SignFlipTest, RefusesWhatIsNotFinite) {
  EXPECT_THROW(SignFlipTest(std::vector<double>{1, std::nan("")}, {}), NumericError);
  EXPECT_THROW(SignFlipTest(std::vector<double>{1, HUGE_VAL}, {}), NumericError);
}

// The greatest distance between the p of simulations and uniform ones (Kolmogorov and Smirnov).
double DistanceFromUniform(std::vector<double> p_values) {
  std::sort(p_values.begin(), p_values.end());
  const auto count = static_cast<double>(p_values.size());
  double distance = 0;
  for (size_t i = 0; i < p_values.size(); ++i) {
    distance = std::max({distance, std::abs(p_values[i] - static_cast<double>(i) / count),
                         std::abs(p_values[i] - static_cast<double>(i + 1) / count)});
  }
  return distance;
}

TEST(SignFlipTest, PIsUniformWhereTheSystemsAreTheSame) {
  std::vector<double> p_values;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    p_values.push_back(
        SignFlipTest(NormalDifferences(seed, 40, 0), {.seed = seed, .permutations = 2000}).p_value);
  }
  EXPECT_LT(DistanceFromUniform(p_values), 2.23 / std::sqrt(400));  // beyond: once in 10^4
}

// Two noisy systems of the same quality: each query has its own samples from either.
TEST(SwapTest, PIsUniformWhereTheSystemsAreTheSame) {
  const NormalShape shape{.queries = 20, .others = 5, .shift = 1, .spread = 0.5};
  std::vector<double> auc, partial, precision;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const SwapResult result =
        SwapTest(NormalSamples(2 * seed, shape), NormalSamples(2 * seed + 1, shape),
                 {.seed = seed, .permutations = 400, .threads = 2});
    auc.push_back(result.auc.p_value);
    partial.push_back(result.partial_auc.p_value);
    precision.push_back(result.average_precision.p_value);
  }
  EXPECT_LT(DistanceFromUniform(auc), 2.23 / std::sqrt(300));
  EXPECT_LT(DistanceFromUniform(partial), 2.23 / std::sqrt(300));
  EXPECT_LT(DistanceFromUniform(precision), 2.23 / std::sqrt(300));
}

// All swaps of few queries, from pooled samples that are put together for each.
TEST(SwapTest, IsTheShareOfSwapsThatDifferAsMuch) {
  const NormalShape shape{.queries = 8, .others = 6, .shift = 1};
  const std::vector<QuerySamples> a = NormalSamples(1, shape);
  std::vector<QuerySamples> b = NormalSamples(2, {.queries = 8, .others = 6, .shift = 2});
  // Ranks of each system, so that the scales are the same; here no score ties.
  const auto ranked = [](std::vector<QuerySamples> samples) {
    std::vector<double> all;
    for (const auto& q : samples) {
      all.insert(all.end(), q.positives.begin(), q.positives.end());
      all.insert(all.end(), q.negatives.begin(), q.negatives.end());
    }
    std::sort(all.begin(), all.end());
    for (auto& q : samples) {
      for (auto* scores : {&q.positives, &q.negatives}) {
        for (double& score : *scores) {
          score =
              static_cast<double>(std::lower_bound(all.begin(), all.end(), score) - all.begin());
        }
      }
    }
    return samples;
  };
  const auto ranks_a = ranked(a), ranks_b = ranked(b);
  const double observed = std::abs(*PooledAuc(a) - *PooledAuc(b));
  size_t far = 0;
  for (size_t bits = 0; bits < 256; ++bits) {
    auto first = ranks_a, second = ranks_b;
    for (size_t q = 0; q < 8; ++q) {
      if ((bits >> q & 1) != 0) std::swap(first[q], second[q]);
    }
    far += std::abs(*PooledAuc(first) - *PooledAuc(second)) >= observed - 1e-12;
  }
  const SwapResult result = SwapTest(a, b, {.permutations = 256, .threads = 2});
  EXPECT_TRUE(result.auc.exact);
  EXPECT_EQ(result.auc.permutations, 256);
  EXPECT_DOUBLE_EQ(result.auc.p_value, static_cast<double>(far) / 256);
}

TEST(SwapTest, ScalesOfScoresDoNotMatterAndSameSamplesGiveOne) {
  const NormalShape shape{.queries = 50, .others = 10, .shift = 1};
  const std::vector<QuerySamples> a = NormalSamples(1, shape);
  const std::vector<QuerySamples> b = NormalSamples(2, {.queries = 50, .others = 10, .shift = 1.8});
  std::vector<QuerySamples> scaled = b;
  for (QuerySamples& query : scaled) {
    for (double& score : query.positives) score = 40 * score - 300;
    for (double& score : query.negatives) score = 40 * score - 300;
  }
  const TestOptions options{.seed = 1, .permutations = 2000, .threads = 2};
  const SwapResult plain = SwapTest(a, b, options);
  EXPECT_LT(plain.auc.p_value, 0.05);
  EXPECT_EQ(SwapTest(a, scaled, options).auc.p_value, plain.auc.p_value);
  EXPECT_EQ(SwapTest(b, a, options).auc.p_value, plain.auc.p_value);
  EXPECT_EQ(SwapTest(b, scaled, options).average_precision.p_value, 1);
  EXPECT_EQ(SwapTest(a, a, options).auc.p_value, 1);
}

TEST(HolmAdjusted, ByHand) {
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06), testing::DoubleEq(0.06),
                          testing::DoubleEq(0.02)));
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.6, 0.7}), ElementsAre(1, 1));
  EXPECT_THAT(HolmAdjusted(std::vector<double>{0.2}), ElementsAre(0.2));
}

}  // namespace
}  // namespace tandem::eval
