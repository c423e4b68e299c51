// What dynamic pruning ranks by: queries by their scores, and the quantiles of pairs' scores.
#include "sampling/pruning/query_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "sampling/pruning/score_histogram.h"

namespace tandem::sampling {
namespace {

TEST(ScoreHistogram, FindsTheQuantileOfWhatIsInIt) {
  ScoreHistogram histogram;
  std::vector<float> scores = {-2, -1, -0.5F, 0, 0, 0.25F, 1, 3};
  histogram.Assign(scores, [](size_t) { return true; });
  scores.push_back(0.7F);
  histogram.Add(0.7F);
  histogram.Remove(0);
  scores.erase(scores.begin() + 3);
  ASSERT_EQ(histogram.size(), scores.size());
  std::sort(scores.rbegin(), scores.rend());
  for (size_t above = 0; above < scores.size(); ++above) {
    EXPECT_EQ(histogram.BucketBelow(above), ScoreHistogram::BucketOf(scores[above])) << above;
  }
  EXPECT_EQ(ScoreHistogram::BucketOf(std::nanf("")), 0);
  EXPECT_EQ(ScoreHistogram::BucketOf(1), ScoreHistogram::kBuckets - 1);
  EXPECT_EQ(ScoreHistogram::BucketOf(-1), 0);
  EXPECT_EQ(ScoreHistogram::BucketOf(0), ScoreHistogram::kBuckets / 2);
}

TEST(ScoreHistogram, BeginsAnewWithEachAssignment) {
  const std::vector<float> first = {-0.5F, 0.25F, 0.25F, 1}, second = {-1, 0.5F, 0.25F};
  ScoreHistogram histogram, fresh;
  const auto every = [](size_t) { return true; };
  histogram.Assign(first, every);
  histogram.Assign(second, every);
  fresh.Assign(second, every);
  EXPECT_EQ(histogram.size(), 3U);
  for (size_t above = 0; above < 3; ++above) {
    EXPECT_EQ(histogram.BucketBelow(above), fresh.BucketBelow(above)) << above;
  }
}

TEST(QueryRanking, SkippedQueriesAreNotOpenUntilTheyAreTakenBack) {
  QueryRanking ranking(4);
  const std::vector<uint32_t> all = {0, 1, 2, 3};
  ranking.Begin(all, [](uint32_t q) { return static_cast<float>(q); });
  ranking.Skip(1);
  ranking.Draw(1);  // one that was skipped
  ranking.Skip(0);
  ASSERT_EQ(ranking.open(), 2);
  EXPECT_EQ((std::set<uint32_t>{ranking.open_query(0), ranking.open_query(1)}),
            (std::set<uint32_t>{2, 3}));
  ranking.Unskip();
  EXPECT_EQ(ranking.open(), 3);
  EXPECT_EQ(ranking.undrawn(), 3);
}

TEST(QueryRanking, KeepsScoresExactly) {
  QueryRanking ranking(5);
  const std::vector<float> scores = {-0.0F, 1e-30F, -1e-30F, 3, -2};
  const std::vector<uint32_t> all = {0, 1, 2, 3, 4};
  ranking.Begin(all, [&](uint32_t q) { return scores[q]; });
  std::vector<uint32_t> order;
  while (ranking.undrawn() > 0) {
    order.push_back(ranking.best());
    EXPECT_EQ(ranking.better(), order.size() - 1);
    ranking.Draw(order.back());
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{3, 1, 0, 2, 4}));
  for (uint32_t q = 0; q < 5; ++q) EXPECT_EQ(ranking.score(q), scores[q]);
}

}  // namespace
}  // namespace tandem::sampling
