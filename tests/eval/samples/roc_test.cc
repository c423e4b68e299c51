#include "eval/samples/roc.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "eval/random_samples.h"

namespace tandem::eval {
namespace {

using testing::Optional;

// One query with these scores.
std::vector<QuerySamples> OneQuery(std::vector<double> positives, std::vector<double> negatives,
                                   size_t missing = 0) {
  return {{.query = "q",
           .positives = std::move(positives),
           .missing_positives = missing,
           .negatives = std::move(negatives)}};
}

struct Pool {
  std::vector<double> positives, negatives;
  double missing = 0;
  double positive_count() const { return static_cast<double>(positives.size()) + missing; }
};

Pool Pooled(const std::vector<QuerySamples>& samples) {
  Pool pool;
  for (const QuerySamples& query : samples) {
    pool.positives.insert(pool.positives.end(), query.positives.begin(), query.positives.end());
    pool.negatives.insert(pool.negatives.end(), query.negatives.begin(), query.negatives.end());
    pool.missing += static_cast<double>(query.missing_positives);
  }
  return pool;
}

double ShareAtLeast(const std::vector<double>& scores, double threshold) {
  return static_cast<double>(std::count_if(scores.begin(), scores.end(),
                                           [&](double score) { return score >= threshold; }));
}

// The curve as linear pieces between the points of all thresholds, integrated by small steps of the
// false-positive rate: nothing of the code that is tested.
double PartialByIntegration(const std::vector<QuerySamples>& samples) {
  const Pool pool = Pooled(samples);
  std::set<double, std::greater<>> thresholds(pool.positives.begin(), pool.positives.end());
  thresholds.insert(pool.negatives.begin(), pool.negatives.end());
  const auto others = static_cast<double>(pool.negatives.size());
  double area = 0, rate = 0, recall = 0;
  for (const double threshold : thresholds) {
    const double next_rate = ShareAtLeast(pool.negatives, threshold) / others;
    const double next_recall = ShareAtLeast(pool.positives, threshold) / pool.positive_count();
    if (next_rate > rate) {
      const double end = std::min(next_rate, 0.1);
      const double slope = (next_recall - recall) / (next_rate - rate);
      const double end_recall = recall + slope * (end - rate);
      if (end > rate) area += (end - rate) * (recall + end_recall) / 2;
    }
    rate = next_rate;
    recall = next_recall;
  }
  return area / 0.1;
}

double AveragePrecisionByDefinition(const std::vector<QuerySamples>& samples) {
  const Pool pool = Pooled(samples);
  const std::set<double, std::greater<>> thresholds(pool.positives.begin(), pool.positives.end());
  double sum = 0, before = 0;
  for (const double threshold : thresholds) {
    const double found = ShareAtLeast(pool.positives, threshold);
    sum += (found - before) / pool.positive_count() * found /
           (found + ShareAtLeast(pool.negatives, threshold));
    before = found;
  }
  return sum;
}

TEST(PoolFigures, ByHand) {
  // Ten others; a rate of 0.1 is the first of them, which one of two positives is above.
  const std::vector<QuerySamples> samples =
      OneQuery({0.95, 0.75}, {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0});
  EXPECT_THAT(PartialAuc(samples), Optional(0.5));
  EXPECT_THAT(PoolAveragePrecision(samples), Optional(0.5 * 1 + 0.5 * 2 / 4));
  EXPECT_THAT(PooledAuc(samples), Optional(18 / 20.0));
}

TEST(PoolFigures, TheBorderOfThePartialAreaIsInterpolated) {
  // Four others: 0.1 lies within the first step, whose documents, a positive among them, tie. The
  // line from (0, 0) to (1/4, 1) is at 0.4 there.
  EXPECT_THAT(PartialAuc(OneQuery({0.9}, {0.9, 0.5, 0.4, 0.3})), Optional(testing::DoubleEq(0.2)));
  EXPECT_THAT(PartialAuc(OneQuery({0.95}, {0.9, 0.5, 0.4, 0.3})), Optional(1.0));
  EXPECT_THAT(PartialAuc(OneQuery({0.7}, {0.9, 0.5, 0.4, 0.3})), Optional(0.0));
}

TEST(PoolFigures, AreThoseOfTheirDefinitionsOnRandomSamplesWithTies) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<QuerySamples> samples = RandomSamples(seed);
    const PoolFigures figures = FiguresOf(PoolLevels(samples));
    ASSERT_TRUE(figures.auc && figures.partial_auc && figures.average_precision);
    EXPECT_DOUBLE_EQ(*figures.auc, *PooledAuc(samples)) << seed;
    EXPECT_NEAR(*figures.partial_auc, PartialByIntegration(samples), 1e-12) << seed;
    EXPECT_NEAR(*figures.average_precision, AveragePrecisionByDefinition(samples), 1e-12) << seed;
  }
}

TEST(PoolFigures, WithoutPositivesOrOthersThereIsNoValue) {
  EXPECT_EQ(PartialAuc(OneQuery({}, {1, 2})), std::nullopt);
  EXPECT_EQ(PoolAveragePrecision(OneQuery({}, {1, 2})), std::nullopt);
  EXPECT_EQ(PartialAuc(OneQuery({1}, {})), std::nullopt);
  EXPECT_THAT(PoolAveragePrecision(OneQuery({1}, {})), Optional(1.0));
  EXPECT_THAT(PoolAveragePrecision(OneQuery({1}, {}, 1)), Optional(0.5));
  EXPECT_EQ(PartialAuc({}), std::nullopt);
  EXPECT_THROW(PartialAuc(OneQuery({std::nan("")}, {1})), NumericError);
  EXPECT_THROW(PartialAuc(OneQuery({1}, {std::nan("")})), NumericError);
}

TEST(ResampledFigures, AreThoseOfTheDrawnQueries) {
  const std::vector<QuerySamples> samples = RandomSamples(3);
  const ResampledFigures resampled =
      ResampleFigures(PoolLevels(samples), {.seed = 7, .resamples = 20, .threads = 2});
  std::vector<uint32_t> counts(samples.size());
  for (size_t r = 0; r < 20; ++r) {
    DrawCounts(7, r, counts);
    std::vector<QuerySamples> drawn;
    for (size_t q = 0; q < counts.size(); ++q) drawn.insert(drawn.end(), counts[q], samples[q]);
    ASSERT_EQ(drawn.size(), samples.size());
    EXPECT_DOUBLE_EQ(resampled.auc[r], *PooledAuc(drawn)) << r;
    EXPECT_NEAR(resampled.partial_auc[r], PartialByIntegration(drawn), 1e-12) << r;
    EXPECT_NEAR(resampled.average_precision[r], AveragePrecisionByDefinition(drawn), 1e-12) << r;
  }
}

TEST(ResampledFigures, ThreadsChangeNothingAndSeedsDo) {
  const ScoreLevels levels = PoolLevels(RandomSamples(4));
  const auto resample = [&](uint64_t seed, int threads) {
    return ResampleFigures(levels, {.seed = seed, .resamples = 100, .threads = threads}).auc;
  };
  EXPECT_EQ(resample(1, 1), resample(1, 3));
  EXPECT_NE(resample(1, 1), resample(2, 1));
}

// Of simulations with a known truth, about 95 % of the intervals hold it.
TEST(FigureIntervals, HoldTheTruthAsOftenAsTheySay) {
  // A positive and ten others of each query have normal scores one deviation apart, so that the
  // chance that a positive wins is that of a normal number above -1 / sqrt(2).
  const double truth = 0.5 * std::erfc(-0.5);
  int held = 0;
  constexpr int kRuns = 200;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const PoolIntervals intervals =
        FigureIntervals(PoolLevels(NormalSamples(seed, {.queries = 60, .others = 10, .shift = 1})),
                        {.seed = seed, .resamples = 400, .threads = 2});
    held += intervals.auc->low <= truth && truth <= intervals.auc->high;
  }
  EXPECT_GE(held, 178);  // 200 of 0.95: fewer than this once in 10^4
  EXPECT_LE(held, 199);
}

TEST(Repetitions, AreFewerForManySamplesOnly) {
  EXPECT_EQ(Repetitions(10'000, 100'000), 10'000);
  EXPECT_EQ(Repetitions(100'000, 3'500'000), 1428);
  EXPECT_EQ(Repetitions(100'000, size_t{1} << 40), 1000);
  EXPECT_EQ(Repetitions(50, size_t{1} << 40), 50);
}

TEST(DrawCounts, DrawAsManyQueriesAsThereAreEachAsOften) {
  std::vector<uint64_t> totals(7);
  std::vector<uint32_t> counts(7);
  for (size_t r = 0; r < 10'000; ++r) {
    DrawCounts(5, r, counts);
    uint32_t sum = 0;
    for (size_t q = 0; q < 7; ++q) {
      totals[q] += counts[q];
      sum += counts[q];
    }
    ASSERT_EQ(sum, 7);
  }
  double chi_square = 0;
  for (const uint64_t total : totals) {
    chi_square +=
        (static_cast<double>(total) - 10'000) * (static_cast<double>(total) - 10'000) / 1e4;
  }
  EXPECT_LT(chi_square, 38.3);  // beyond: one run of a million (6 degrees of freedom)
}

TEST(PercentileInterval, InterpolatesBetweenNeighbours) {
  std::vector<double> values;
  for (int i = 100; i >= 0; --i) values.push_back(i);
  const Interval interval = PercentileInterval(values, 0.95);
  EXPECT_NEAR(interval.low, 2.5, 1e-9);
  EXPECT_NEAR(interval.high, 97.5, 1e-9);
  EXPECT_DOUBLE_EQ(PercentileInterval({3}, 0.95).high, 3);
}

void ExpectPointsOfTheCurve(const std::vector<CurvePoint>& curve, const Pool& pool) {
  for (const CurvePoint& point : curve) {
    if (std::isinf(point.threshold)) continue;
    const double found = ShareAtLeast(pool.positives, point.threshold);
    const double wrong = ShareAtLeast(pool.negatives, point.threshold);
    EXPECT_DOUBLE_EQ(point.recall, found / pool.positive_count());
    EXPECT_DOUBLE_EQ(point.false_positive_rate, wrong / static_cast<double>(pool.negatives.size()));
    EXPECT_DOUBLE_EQ(point.precision, found / (found + wrong));
  }
}

TEST(Curves, ThinnedOnesHoldPointsOfTheCurveAndItsEnds) {
  const std::vector<QuerySamples> samples =
      NormalSamples(1, {.queries = 200, .others = 50, .shift = 1});
  const Pool pool = Pooled(samples);
  const ScoreLevels levels = PoolLevels(samples);
  const std::vector<CurvePoint> roc = RocCurve(levels, 100);
  EXPECT_EQ(roc.front().false_positive_rate, 0);
  EXPECT_EQ(roc.front().recall, 0);
  EXPECT_EQ(roc.back().false_positive_rate, 1);
  EXPECT_EQ(roc.back().recall, 1);
  EXPECT_GT(roc.size(), 40);
  EXPECT_LT(roc.size(), 110);
  ExpectPointsOfTheCurve(roc, pool);
  const std::vector<CurvePoint> precision = PrecisionRecallCurve(levels, 100);
  EXPECT_DOUBLE_EQ(precision.front().threshold, levels.scores.front());
  EXPECT_EQ(precision.back().recall, 1);
  EXPECT_GT(precision.size(), 90);
  EXPECT_LT(precision.size(), 110);
  ExpectPointsOfTheCurve(precision, pool);
  // A short curve is not thinned.
  const std::vector<QuerySamples> small = OneQuery({0.9, 0.2}, {0.5, 0.1}, 1);
  EXPECT_EQ(RocCurve(PoolLevels(small)).size(), 6);  // four levels, both ends
  ExpectPointsOfTheCurve(RocCurve(PoolLevels(small)), Pooled(small));
  EXPECT_TRUE(RocCurve(PoolLevels(OneQuery({}, {1}))).empty());
  EXPECT_TRUE(PrecisionRecallCurve(PoolLevels(OneQuery({}, {1}))).empty());
}

}  // namespace
}  // namespace tandem::eval
