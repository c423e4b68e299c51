#include "weights/settings/calibration_json.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

constexpr const char* kFormula = "1 / (1 + exp(-(scale * score + bias)))";

// Far above any scale, bias or score that training reaches. JSON has no infinity.
constexpr double kMost = 1e30;

double RequiredNumber(const Settings& settings, std::string_view key) {
  const std::optional<double> number = settings.Number(key, -kMost, kMost);
  if (!number) settings.Fail(key, "a number");
  return *number;
}

std::vector<double> RequiredNumbers(const Settings& settings, std::string_view key, double least,
                                    double most) {
  const std::string expected = fmt::format("ascending numbers from {} to {}", least, most);
  const Json* list = settings.Find(key);
  if (list == nullptr || !list->is_array() || list->empty()) settings.Fail(key, expected);
  std::vector<double> numbers;
  for (const Json& one : *list) {
    if (!one.is_number()) settings.Fail(key, expected);
    const double number = one.get<double>();
    const bool ascends = numbers.empty() || number >= numbers.back();
    if (!(number >= least && number <= most) || !ascends) settings.Fail(key, expected);
    numbers.push_back(number);
  }
  return numbers;
}

void ReadIsotonic(const Settings& probability, Calibration* calibration) {
  calibration->scores = RequiredNumbers(probability, "scores", -kMost, kMost);
  calibration->probabilities = RequiredNumbers(probability, "probabilities", 0, 1);
  for (size_t i = 1; i < calibration->scores.size(); ++i) {
    if (calibration->scores[i] == calibration->scores[i - 1]) {
      probability.Fail("scores", "each score once");
    }
  }
  if (calibration->scores.size() != calibration->probabilities.size()) {
    probability.Fail("probabilities",
                     fmt::format("one for each of the {} scores", calibration->scores.size()));
  }
}

CalibrationMethod ReadMethod(const Settings& probability) {
  const std::optional<std::string> name = probability.String("method");
  if (!name) return CalibrationMethod::kObjective;
  const std::optional<CalibrationMethod> method = CalibrationMethodFromName(*name);
  if (!method) {
    probability.Fail("method", "\"objective\", \"platt\" or \"isotonic\"");
  }
  return *method;
}

std::optional<LearnedScale> ReadLearned(const Settings& tandem_file) {
  if (!tandem_file.Has("learned")) return std::nullopt;
  const Settings learned = tandem_file.RequiredObject("learned");
  return LearnedScale{.objective = learned.String("objective").value_or(""),
                      .scale = RequiredNumber(learned, "scale"),
                      .bias = RequiredNumber(learned, "bias")};
}

}  // namespace

std::optional<Calibration> ReadCalibration(const Settings& tandem_file) {
  if (!tandem_file.Has("probability")) return std::nullopt;
  const Settings probability = tandem_file.RequiredObject("probability");
  Calibration calibration{.similarity = probability.RequiredString("similarity"),
                          .method = ReadMethod(probability),
                          .fitted_on = probability.String("fitted_on").value_or("")};
  if (calibration.similarity != "cosine" && calibration.similarity != "dot") {
    probability.Fail("similarity", "\"cosine\" or \"dot\"");
  }
  if (calibration.method == CalibrationMethod::kIsotonic) {
    ReadIsotonic(probability, &calibration);
  } else {
    calibration.scale = RequiredNumber(probability, "scale");
    calibration.bias = RequiredNumber(probability, "bias");
  }
  if (calibration.method == CalibrationMethod::kObjective) {
    calibration.objective = tandem_file.String("objective").value_or("");
  } else {
    calibration.replaced = ReadLearned(tandem_file);
  }
  return calibration;
}

void PutCalibration(const std::optional<Calibration>& calibration, Json* file) {
  for (const char* key : {"objective", "probability", "learned"}) file->erase(key);
  if (!calibration) return;
  const bool learned = calibration->method == CalibrationMethod::kObjective;
  if (learned) (*file)["objective"] = calibration->objective;
  Json probability = {{"method", CalibrationMethodName(calibration->method)}};
  if (calibration->method == CalibrationMethod::kIsotonic) {
    probability["scores"] = calibration->scores;
    probability["probabilities"] = calibration->probabilities;
    probability["similarity"] = calibration->similarity;
  } else {
    probability["scale"] = calibration->scale;
    probability["bias"] = calibration->bias;
    probability["similarity"] = calibration->similarity;
    probability["formula"] = kFormula;
  }
  if (!calibration->fitted_on.empty()) probability["fitted_on"] = calibration->fitted_on;
  (*file)["probability"] = std::move(probability);
  if (!learned && calibration->replaced) {
    (*file)["learned"] = {{"objective", calibration->replaced->objective},
                          {"scale", calibration->replaced->scale},
                          {"bias", calibration->replaced->bias}};
  }
}

}  // namespace tandem::weights
