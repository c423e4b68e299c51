// The pencil example of docs/evaluation.md, "Calibration: scores as probabilities".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "eval/calibration/calibration.h"
#include "eval/calibration/reliability.h"

namespace tandem::eval {
namespace {

using testing::ElementsAre;

const std::vector<LabelledScore> kSix = {{0.1, 0, 1}, {0.3, 0, 1}, {0.4, 1, 1},
                                         {0.6, 0, 1}, {0.8, 1, 1}, {0.9, 1, 1}};

template <typename Map>
std::vector<Forecast> ForecastsBy(const Map& map) {
  std::vector<Forecast> forecasts;
  for (const LabelledScore& one : kSix) forecasts.push_back({map(one.score), one.label == 1});
  return forecasts;
}

TEST(Documentation, PlattOfSixDocuments) {
  const LogisticMap map = FitPlatt(kSix);
  EXPECT_NEAR(map.scale, 3.0999, 5e-5);
  EXPECT_NEAR(map.bias, -1.6027, 5e-5);
  const std::vector<Forecast> forecasts = ForecastsBy(map);
  std::vector<double> probabilities;
  for (const Forecast& one : forecasts) probabilities.push_back(one.probability);
  const std::vector<double> expected = {0.2154, 0.3379, 0.4103, 0.5640, 0.7062, 0.7662};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(probabilities[i], expected[i], 5e-5) << i;
  const CalibrationFigures figures = MeasureCalibration(forecasts);
  std::vector<size_t> filled;
  for (size_t b = 0; b < kReliabilityBins; ++b) {
    if (figures.bins[b].count > 0) filled.push_back(b + 1);
  }
  EXPECT_THAT(filled, ElementsAre(4, 6, 7, 9, 11, 12));
  EXPECT_NEAR(figures.error, 0.3724, 5e-5);
  EXPECT_NEAR(figures.brier, 0.1612, 5e-5);
  EXPECT_NEAR(figures.log_loss, 0.4983, 5e-5);
}

TEST(Documentation, IsotonicOfSixDocuments) {
  const IsotonicMap map = FitIsotonic(kSix);
  EXPECT_THAT(map.scores, ElementsAre(0.1, 0.3, 0.4, 0.6, 0.8, 0.9));
  EXPECT_THAT(map.probabilities, ElementsAre(0, 0, 0.5, 0.5, 1, 1));
  EXPECT_NEAR(map(0.35), 0.25, 1e-12);
  EXPECT_NEAR(map(0.7), 0.75, 1e-12);
  EXPECT_EQ(map(2), 1);
  const CalibrationFigures figures = MeasureCalibration(ForecastsBy(map));
  EXPECT_EQ(figures.error, 0);
  EXPECT_NEAR(figures.brier, 0.0833, 5e-5);
  EXPECT_NEAR(figures.log_loss, 0.2310, 5e-5);
}

}  // namespace
}  // namespace tandem::eval
