#include "eval/calibration/reliability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

// Every bin by a pass of its own, as the definition says.
double ErrorByDefinition(const std::vector<Forecast>& forecasts) {
  double error = 0;
  for (int b = 0; b < 15; ++b) {
    double count = 0, sum = 0, positives = 0;
    for (const Forecast& one : forecasts) {
      const double p = one.probability;
      if (p * 15 < b || (p * 15 >= b + 1 && b < 14)) continue;
      count += 1;
      sum += p;
      positives += one.positive ? 1 : 0;
    }
    if (count == 0) continue;
    error +=
        count / static_cast<double>(forecasts.size()) * std::abs(sum / count - positives / count);
  }
  return error;
}

TEST(Reliability, FiguresEqualTheirDefinitions) {
  RandomStream random({.seed = 9, .purpose = "reliability"});
  for (int round = 0; round < 200; ++round) {
    std::vector<Forecast> forecasts;
    double brier = 0, log_loss = 0;
    size_t positives = 0;
    for (uint64_t i = 1 + random.Below(100); i > 0; --i) {
      // The probability is a border of bins in a third of the cases, 0 and 1 among them.
      const double p =
          random.Below(3) == 0 ? static_cast<double>(random.Below(16)) / 15 : random.Uniform();
      const bool positive = random.Uniform() < p;  // of 0 and 1 no surprise
      forecasts.push_back({p, positive});
      positives += positive;
      brier += positive ? (1 - p) * (1 - p) : p * p;
      log_loss -= std::log(positive ? p : 1 - p);
    }
    const auto count = static_cast<double>(forecasts.size());
    const CalibrationFigures figures = MeasureCalibration(forecasts);
    EXPECT_EQ(figures.documents, forecasts.size());
    EXPECT_EQ(figures.positives, positives);
    EXPECT_NEAR(figures.error, ErrorByDefinition(forecasts), 1e-12);
    EXPECT_NEAR(figures.brier, brier / count, 1e-12);
    EXPECT_NEAR(figures.log_loss, log_loss / count, 1e-12);
  }
}

TEST(Reliability, TheTableHasFifteenBins) {
  const CalibrationFigures figures = MeasureCalibration(std::vector<Forecast>{
      {0, false}, {0.05, true}, {1.0 / 15, false}, {0.99, true}, {1, true}, {1, false}});
  EXPECT_EQ(figures.bins[0].count, 2U);
  EXPECT_NEAR(figures.bins[0].mean_probability, 0.025, 1e-15);
  EXPECT_EQ(figures.bins[0].share_of_positives, 0.5);
  EXPECT_EQ(figures.bins[1].count, 1U);  // a border belongs to the bin above it
  EXPECT_EQ(figures.bins[7].count, 0U);
  EXPECT_EQ(figures.bins[7].mean_probability, 0);
  EXPECT_EQ(figures.bins[14].count, 3U);  // 1 has no bin above it
  EXPECT_NEAR(figures.bins[14].share_of_positives, 2.0 / 3, 1e-15);
  EXPECT_NEAR(figures.error, (2 * 0.475 + 1.0 / 15 + 3 * (2.99 / 3 - 2.0 / 3)) / 6, 1e-12);
}

TEST(Reliability, ACertaintyThatIsWrongCostsAFiniteLogLoss) {
  const double most = -std::log(kLeastProbability);  // 36.04
  EXPECT_NEAR(MeasureCalibration(std::vector<Forecast>{{0, true}}).log_loss, most, 1e-12);
  EXPECT_NEAR(MeasureCalibration(std::vector<Forecast>{{1, false}}).log_loss, most, 1e-12);
  EXPECT_NEAR(MeasureCalibration(std::vector<Forecast>{{1, true}}).log_loss, 0, 1e-15);
}

TEST(Reliability, NothingToMeasureIsAnError) {
  EXPECT_THROW(MeasureCalibration({}), DataError);
  EXPECT_THROW(ReportCalibration({}), DataError);
}

TEST(Reliability, ForecastsStandInTheOrderOfScoresNegativesFirst) {
  const QuerySamples samples{"q", {0.5, 0.9}, 3, {0.7, 0.5, 0.1}};
  const QueryForecasts forecasts = ForecastsOf(samples, [](double score) { return score / 2; });
  ASSERT_EQ(forecasts.size(), 5U);  // the three without a score are left out
  const std::vector<std::pair<double, bool>> expected = {
      {0.45, true}, {0.35, false}, {0.25, false}, {0.25, true}, {0.05, false}};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(forecasts[i].probability, expected[i].first) << i;
    EXPECT_EQ(forecasts[i].positive, expected[i].second) << i;
  }
}

TEST(Reliability, DepthsTakeTheBestDocumentsOfEachQuery) {
  // Eleven documents with a probability of 0.9; the first is a positive, the tenth too, and so is
  // the only one of the second query.
  QueryForecasts first;
  for (int i = 0; i < 11; ++i) first.push_back({0.9, i == 0 || i == 9});
  const std::vector<QueryForecasts> queries = {first, {{0.4, true}}, {}};
  const CalibrationReport report = ReportCalibration(queries);
  EXPECT_NEAR(report.errors_at[0], (0.1 + 0.6) / 2, 1e-12);
  EXPECT_NEAR(report.errors_at[1], (std::abs(9 - 2) + 0.6) / 11, 1e-12);
  EXPECT_NEAR(report.errors_at[2], (std::abs(9.9 - 2) + 0.6) / 12, 1e-12);
  EXPECT_EQ(report.errors_at[2], report.figures.error);
  EXPECT_EQ(report.figures.documents, 12U);
}

}  // namespace
}  // namespace tandem::eval
