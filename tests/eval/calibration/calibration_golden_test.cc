// Fits and figures against scikit-learn; the file is made by
// tools/golden/make_calibration_golden.py.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "eval/calibration/calibration.h"
#include "eval/calibration/reliability.h"

namespace tandem::eval {
namespace {

using nlohmann::json;

std::vector<LabelledScore> LabelledOf(const json& golden) {
  std::vector<LabelledScore> labelled;
  for (size_t i = 0; i < golden["scores"].size(); ++i) {
    labelled.push_back({.score = golden["scores"][i],
                        .label = golden["labels"][i],
                        .weight = golden["weights"][i]});
  }
  return labelled;
}

void CompareFigures(const json& golden, const std::vector<LabelledScore>& labelled,
                    const std::function<double(double)>& probability) {
  std::vector<Forecast> forecasts;
  for (const LabelledScore& one : labelled) {
    forecasts.push_back({probability(one.score), one.label == 1});
  }
  const CalibrationFigures figures = MeasureCalibration(forecasts);
  EXPECT_NEAR(figures.error, golden["error"].get<double>(), 1e-9);
  EXPECT_NEAR(figures.brier, golden["brier"].get<double>(), 1e-9);
  EXPECT_NEAR(figures.log_loss, golden["log_loss"].get<double>(), 1e-9);
}

TEST(CalibrationGolden, EqualsScikitLearn) {
  const json cases = json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/eval/calibration_golden.json"));
  ASSERT_EQ(cases.size(), 7U);
  for (const json& golden : cases) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    const std::vector<LabelledScore> labelled = LabelledOf(golden);
    const LogisticMap platt = FitPlatt(labelled);
    const double scale = golden["scale"], bias = golden["bias"];
    EXPECT_NEAR(platt.scale / scale, 1, 1e-8);
    EXPECT_NEAR(platt.bias / bias, 1, 1e-8);
    CompareFigures(golden["figures"]["platt"], labelled, platt);

    const IsotonicMap isotonic = FitIsotonic(labelled);
    ASSERT_EQ(isotonic.scores, golden["kept_scores"].get<std::vector<double>>());
    for (size_t i = 0; i < isotonic.scores.size(); ++i) {
      EXPECT_NEAR(isotonic.probabilities[i], golden["kept_probabilities"][i].get<double>(), 1e-12);
    }
    for (size_t i = 0; i < golden["at"].size(); ++i) {
      EXPECT_NEAR(isotonic(golden["at"][i]), golden["isotonic"][i].get<double>(), 1e-12);
    }
    CompareFigures(golden["figures"]["isotonic"], labelled, isotonic);
  }
}

}  // namespace
}  // namespace tandem::eval
