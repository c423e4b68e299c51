#include "eval/views/space_measures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "eval/views/histogram.h"
#include "eval/views/similarity_ratio.h"
#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

// The example of docs/evaluation.md.
const std::vector<float> kQueries = {1, 0, 0, 1};  // north and east
const std::vector<float> kPositives = {0.6F, 0.8F, 0, 1};

TEST(SpaceMeasures, DocumentedExample) {
  const UnitRows queries = Unit(kQueries, 2), positives = Unit(kPositives, 2);
  // Means (0.5, 0.5) and (0.3, 0.9).
  EXPECT_NEAR(*CentroidGap(queries, positives), std::sqrt(0.04 + 0.16), 1e-7);
  // Squared distances 0.16 + 0.64 and 0.
  EXPECT_NEAR(*Alignment(queries, positives), 0.4, 1e-7);
  EXPECT_NEAR(*Alignment(queries, positives, 1), std::sqrt(0.8) / 2, 1e-7);
  // One pair at a right angle: squared distance 2. The positives: 0.36 + 0.04.
  EXPECT_NEAR(*Uniformity(queries, 1), -4, 1e-12);
  EXPECT_NEAR(*Uniformity(positives, 1), -0.8, 1e-7);
  EXPECT_NEAR(*Uniformity(positives, 1, 5), -2, 1e-6);
  // Both queries are at a right angle to each other; q_1 p_2 = 0 is left out, q_2 p_1 = 0.8.
  const SimilarityRatios ratios = RatiosOf(queries, positives, {});
  ASSERT_EQ(ratios.ratios.size(), 1);
  EXPECT_EQ(ratios.ratios[0], 0);
  EXPECT_EQ(ratios.left_out, 1);
  EXPECT_EQ(ratios.mean_query_query, 0);
  EXPECT_NEAR(*ratios.mean_query_positive, 0.4, 1e-7);
}

TEST(SpaceMeasures, LengthsDoNotCount) {
  const UnitRows queries = Unit({7, 0, 0, 0.01F}, 2);
  EXPECT_NEAR(*CentroidGap(queries, Unit(kQueries, 2)), 0, 1e-12);
}

TEST(SpaceMeasures, UniformityEqualsTheDefinition) {
  const UnitRows rows = Unit(RandomRows(57, 5, 3), 5);
  double sum = 0;
  int pairs = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      double distance = 0;
      for (size_t e = 0; e < 5; ++e) distance += std::pow(rows.row(i)[e] - rows.row(j)[e], 2);
      sum += std::exp(-2 * distance);
      ++pairs;
    }
  }
  EXPECT_NEAR(*Uniformity(rows, 1), std::log(sum / pairs), 1e-12);
  const UnitRows more = Unit(RandomRows(900, 5, 4), 5);
  for (int threads : {2, 3, 8}) EXPECT_EQ(Uniformity(more, threads), Uniformity(more, 1));
}

TEST(SpaceMeasures, ManyDimensionsThatAreEvenlyFilledHaveMinusFour) {
  // E exp(-4 + 4 cos) with cosines of variance 1/400: -4 + 16 / (2 * 400).
  EXPECT_NEAR(*Uniformity(Unit(RandomRows(300, 400, 5), 400), 2), -3.98, 0.003);
}

TEST(SpaceMeasures, NothingWithoutRowsThatAreNeeded) {
  const UnitRows none = Unit({}, 2), one = Unit({1, 0}, 2);
  EXPECT_EQ(CentroidGap(none, one), std::nullopt);
  EXPECT_EQ(CentroidGap(one, none), std::nullopt);
  EXPECT_EQ(Alignment(none, none), std::nullopt);
  EXPECT_EQ(Uniformity(one, 1), std::nullopt);
  EXPECT_EQ(Alignment(one, one), 0);
  const SimilarityRatios ratios = RatiosOf(one, one, {});
  EXPECT_TRUE(ratios.ratios.empty());
  EXPECT_EQ(ratios.mean_query_query, std::nullopt);
}

TEST(UnitRows, ZerosStayAndValuesThatAreNotFiniteAreErrors) {
  const UnitRows rows = Unit({0, 0, 3, 4}, 2);
  EXPECT_EQ(rows.row(0)[0], 0);
  EXPECT_NEAR(rows.row(1)[1], 0.8, 1e-12);
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    try {
      Unit({1, 0, 1, bad}, 2);
      FAIL() << "no error";
    } catch (const NumericError& error) {
      EXPECT_STREQ(error.what(),
                   "row 1 of the embeddings of rows has a value that is not finite: the model's "
                   "weights are broken");
    }
  }
  EXPECT_THROW(Unit({1, 0, 1}, 2), std::logic_error);
}

TEST(UnitRows, SumsOfAnyLengthAreWhole) {
  for (size_t count = 0; count < 20; ++count) {
    const std::vector<double> ones(count, 1), twos(count, 2);
    EXPECT_EQ(Dot(ones, twos), 2.0 * static_cast<double>(count));
    EXPECT_EQ(SquaredDistance(ones, twos), static_cast<double>(count));
  }
}

TEST(SimilarityRatio, OneWhereTowersAreTheSame) {
  const UnitRows rows = Unit(RandomRows(20, 4, 1, 0.5, {1, 1, 0, 0}), 4);
  const SimilarityRatios ratios = RatiosOf(rows, rows, {});
  EXPECT_EQ(ratios.ratios.size(), 20 * 19);
  for (double ratio : ratios.ratios) EXPECT_EQ(ratio, 1);
}

TEST(SimilarityRatio, DrawsWhatAllPairsHave) {
  const UnitRows queries = Unit(RandomRows(150, 6, 1, 1, {1, 0, 0, 0, 0, 1}), 6);
  const UnitRows positives = Unit(RandomRows(150, 6, 2, 1, {0, 0, 1, 0, 0, 1}), 6);
  const SimilarityRatios all = RatiosOf(queries, positives, {.draws = 150 * 149});
  const SimilarityRatios drawn = RatiosOf(queries, positives, {.draws = 150 * 149 - 1});
  EXPECT_EQ(all.ratios.size() + all.left_out, 150 * 149);
  EXPECT_EQ(drawn.ratios.size() + drawn.left_out, 150 * 149 - 1);
  // Some 22,000 draws of values with a deviation below 0.5.
  EXPECT_NEAR(*drawn.mean_query_query, *all.mean_query_query, 0.015);
  EXPECT_NEAR(*drawn.mean_query_positive, *all.mean_query_positive, 0.015);
  EXPECT_NE(drawn.mean_query_query, all.mean_query_query);
  EXPECT_NE(RatiosOf(queries, positives, {.draws = 100, .seed = 2}).ratios,
            RatiosOf(queries, positives, {.draws = 100, .seed = 3}).ratios);
}

TEST(SimilarityRatio, NeverPairsAQueryWithItself) {
  // Only i = j has a cosine that is not zero, so that every draw is left out.
  const UnitRows rows = Unit({1, 0, 0, 0, 1, 0, 0, 0, 1}, 3);
  for (size_t draws : {3, 6}) {
    const SimilarityRatios ratios = RatiosOf(rows, rows, {.draws = draws});
    EXPECT_TRUE(ratios.ratios.empty());
    EXPECT_EQ(ratios.left_out, draws);
  }
}

TEST(Histogram, EveryValueCountsOnce) {
  const std::vector<double> values = {-1.01, -1, -0.5, 0, 0.99, 1, 1.5};
  const Histogram histogram = MakeHistogram(values, -1, 1, 4);
  EXPECT_EQ(histogram.counts, (std::vector<size_t>{1, 1, 1, 2}));
  EXPECT_EQ(histogram.below, 1);
  EXPECT_EQ(histogram.above, 1);
  EXPECT_EQ(histogram.end(), 1);
  EXPECT_THROW(MakeHistogram(std::vector<double>{std::nan("")}, 0, 1, 2), NumericError);
}

TEST(Median, MiddleOrMeanOfTheMiddleTwo) {
  EXPECT_EQ(Median({}), std::nullopt);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({5, 1, 9}), 5);
  EXPECT_EQ(Median({9, 1, 4, 2}), 3);
}

}  // namespace
}  // namespace tandem::eval
