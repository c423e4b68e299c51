#include "eval/samples/auc.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

// The AUC by its definition: counts pairs one by one.
double ByPairs(const std::vector<double>& positives, size_t missing,
               const std::vector<double>& negatives) {
  double wins = 0;
  for (double positive : positives) {
    for (double negative : negatives) {
      wins += positive > negative ? 1 : positive == negative ? 0.5 : 0;
    }
  }
  return wins /
         (static_cast<double>(positives.size() + missing) * static_cast<double>(negatives.size()));
}

TEST(PooledAuc, TiesCountHalfAndMissingPositivesLose) {
  const QuerySamples samples{"q", {3, 2, 1}, 1, {2, 0}};
  // Positive 3 beats both negatives, 2 ties one and beats one, 1 beats one, the positive that is
  // not in the run beats none: 4.5 of 8 pairs.
  EXPECT_EQ(QueryAuc(samples), 4.5 / 8);
  EXPECT_EQ(PooledAuc({&samples, 1}), 4.5 / 8);
}

TEST(PooledAuc, PoolsScoresOfDifferentQueries) {
  // Each query ranks perfectly, but no threshold separates both.
  const std::vector<QuerySamples> samples = {{"a", {0.9}, 0, {0.8, 0.7}}, {"b", {0.5}, 0, {0.4}}};
  EXPECT_EQ(QueryAuc(samples[0]), 1);
  EXPECT_EQ(QueryAuc(samples[1]), 1);
  EXPECT_EQ(PooledAuc(samples), 4.0 / 6);
}

TEST(PooledAuc, NothingWithoutAPair) {
  EXPECT_EQ(PooledAuc({}), std::nullopt);
  EXPECT_EQ(QueryAuc({"q", {1}, 0, {}}), std::nullopt);
  EXPECT_EQ(QueryAuc({"q", {}, 0, {1}}), std::nullopt);
  EXPECT_EQ(QueryAuc({"q", {}, 2, {1}}), 0);
}

TEST(PooledAuc, EqualsTheDefinitionOnRandomScoresWithTies) {
  RandomStream random({.seed = 11, .purpose = "auc"});
  for (int round = 0; round < 300; ++round) {
    const uint64_t levels = 1 + random.Below(30);  // few levels: many ties
    std::vector<QuerySamples> samples(1 + random.Below(4));
    std::vector<double> positives;
    std::vector<double> negatives;
    size_t missing = 0;
    for (QuerySamples& query : samples) {
      for (uint64_t i = random.Below(20); i > 0; --i) {
        query.positives.push_back(static_cast<double>(random.Below(levels)) / 7);
      }
      for (uint64_t i = random.Below(40); i > 0; --i) {
        query.negatives.push_back(static_cast<double>(random.Below(levels)) / 7);
      }
      query.missing_positives = random.Below(3);
      missing += query.missing_positives;
      positives.insert(positives.end(), query.positives.begin(), query.positives.end());
      negatives.insert(negatives.end(), query.negatives.begin(), query.negatives.end());
    }
    const std::optional<double> auc = PooledAuc(samples);
    if (positives.size() + missing == 0 || negatives.empty()) {
      EXPECT_EQ(auc, std::nullopt);
    } else {
      EXPECT_EQ(*auc, ByPairs(positives, missing, negatives));
    }
  }
}

TEST(PooledAuc, NotANumberIsAnErrorAndInfinityIsNot) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(QueryAuc({"q", {nan}, 0, {1}}), NumericError);
  EXPECT_THROW(QueryAuc({"q", {1}, 0, {1, nan}}), NumericError);
  EXPECT_EQ(QueryAuc({"q", {infinity, 0}, 0, {-infinity, infinity}}), 2.5 / 4);
}

TEST(SamplesOf, TakesTheBest500Others) {
  std::vector<data::ScoredDocument> results;
  std::vector<std::string> ids;
  for (int i = 0; i < 600; ++i) ids.push_back(fmt::format("d{}", 1000 + i));
  for (int i = 0; i < 600; ++i) {
    results.push_back({ids[static_cast<size_t>(i)], static_cast<double>(i)});
  }
  // d1599 (best) and d1000 (worst) are positives, d1598 is judged but none, d9 was not retrieved.
  const std::vector<data::GradedDocument> judgements = {
      {ids[599], 2}, {ids[598], 0}, {ids[0], 1}, {"d9", 1}};
  const JudgedRanking ranking = RankAndJudge(results, judgements, {});
  const QuerySamples samples = SamplesOf("q", ranking);
  EXPECT_EQ(samples.positives, (std::vector<double>{599, 0}));
  EXPECT_EQ(samples.missing_positives, 1U);
  ASSERT_EQ(samples.negatives.size(), kNegativesPerQuery);
  EXPECT_EQ(samples.negatives.front(), 598);
  EXPECT_EQ(samples.negatives.back(), 99);
  const SampleCounts counts = CountSamples({&samples, 1});
  EXPECT_EQ(counts.missing_positives, 1U);
  EXPECT_EQ(counts.queries_short_of_negatives, 0U);
  EXPECT_EQ(counts.queries_without_auc, 0U);
}

TEST(BestSamples, AreThoseOfHighestScoreAndOfEqualOnesTheNegatives) {
  const std::vector<QuerySamples> samples = {
      {.query = "a", .positives = {0.9, 0.5}, .missing_positives = 2, .negatives = {0.9, 0.4}},
      {.query = "b", .negatives = {0.1}},
      {.query = "c"}};
  const std::vector<QuerySamples> first = BestSamples(samples, 1);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0].query, "a");
  EXPECT_TRUE(first[0].positives.empty());
  EXPECT_EQ(first[0].negatives, std::vector<double>{0.9});
  EXPECT_EQ(first[0].missing_positives, 2U);
  EXPECT_EQ(first[1].negatives, std::vector<double>{0.1});
  EXPECT_TRUE(first[2].positives.empty() && first[2].negatives.empty());
  const std::vector<QuerySamples> three = BestSamples(samples, 3);
  EXPECT_EQ(three[0].positives, (std::vector<double>{0.9, 0.5}));
  EXPECT_EQ(three[0].negatives, std::vector<double>{0.9});
  EXPECT_EQ(BestSamples(samples, 99)[0].negatives, (std::vector<double>{0.9, 0.4}));
}

}  // namespace
}  // namespace tandem::eval
