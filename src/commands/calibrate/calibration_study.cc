#include "commands/calibrate/calibration_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "eval/calibration/calibration.h"
#include "eval/calibration/calibration_folds.h"

namespace tandem::app {
namespace {

using weights::Calibration;
using weights::CalibrationMethod;

std::vector<eval::QueryForecasts> AllForecasts(std::span<const eval::QuerySamples> samples,
                                               const Calibration& calibration) {
  std::vector<eval::QueryForecasts> forecasts;
  for (const eval::QuerySamples& query : samples) {
    forecasts.push_back(
        eval::ForecastsOf(query, [&](double score) { return calibration.Probability(score); }));
  }
  return forecasts;
}

// Stores a map in the form in which the folder keeps it.
void Put(const eval::LogisticMap& map, Calibration* calibration) {
  calibration->scale = map.scale;
  calibration->bias = map.bias;
}
void Put(const eval::IsotonicMap& map, Calibration* calibration) {
  calibration->scores = map.scores;
  calibration->probabilities = map.probabilities;
}

// Fits the calibration with `fit` to all samples, and measures it with fits that leave out a fold.
template <typename Fit>
MeasuredCalibration Fitted(std::span<const eval::QuerySamples> samples, Calibration calibration,
                           const Fit& fit) {
  const auto held_out = eval::HeldOutForecasts(
      samples, [&](std::span<const eval::LabelledScore> labelled) -> eval::ProbabilityMap {
        return fit(labelled);
      });
  Put(fit(eval::LabelledScoresOf(samples)), &calibration);
  return {.calibration = std::move(calibration),
          .report = eval::ReportCalibration(held_out),
          .held_out = true};
}

Calibration OfObjective(const weights::LearnedScale& learned, const std::string& similarity) {
  return {.objective = learned.objective,
          .scale = learned.scale,
          .bias = learned.bias,
          .similarity = similarity};
}

void AddBefore(const StudyInputs& inputs, std::vector<MeasuredCalibration>* measured) {
  if (!inputs.before) return;
  const auto add = [&](const Calibration& calibration, bool was_there) {
    measured->push_back(
        {.calibration = calibration,
         .report = eval::ReportCalibration(AllForecasts(inputs.samples, calibration)),
         .was_there = was_there});
  };
  if (inputs.before->method != CalibrationMethod::kObjective) add(*inputs.before, true);
  if (const auto learned = inputs.before->Learned()) {
    add(OfObjective(*learned, inputs.similarity), false);
  }
}

CalibrationStudy CountsOf(std::span<const eval::QuerySamples> samples) {
  CalibrationStudy study;
  for (const eval::QuerySamples& query : samples) {
    study.queries += !query.positives.empty() || !query.negatives.empty();
    study.positives += query.positives.size();
    study.missing_positives += query.missing_positives;
    study.negatives += query.negatives.size();
  }
  return study;
}

}  // namespace

CalibrationStudy StudyCalibrations(const StudyInputs& inputs) {
  const auto learned = inputs.before ? inputs.before->Learned() : std::nullopt;
  const CalibrationMethod method =
      inputs.method.value_or(learned ? CalibrationMethod::kObjective : CalibrationMethod::kPlatt);
  if (method == CalibrationMethod::kObjective && !learned) {
    throw UsageError(
        "--method objective: no objective has learned how the model's scores become probabilities "
        "(bixse learns it); give --method platt or isotonic");
  }
  CalibrationStudy study = CountsOf(inputs.samples);
  const std::vector<size_t> folds = eval::CalibrationFolds(inputs.samples);
  study.folds = *std::max_element(folds.begin(), folds.end()) + 1;
  AddBefore(inputs, &study.measured);
  const Calibration fitted{
      .similarity = inputs.similarity,
      .fitted_on = fmt::format("{}: {} positives and {} others of {} queries", inputs.data,
                               study.positives, study.negatives, study.queries),
      .replaced = learned};
  Calibration platt = fitted, isotonic = fitted;
  platt.method = CalibrationMethod::kPlatt;
  isotonic.method = CalibrationMethod::kIsotonic;
  study.measured.push_back(Fitted(inputs.samples, std::move(platt), eval::FitPlatt));
  study.measured.push_back(Fitted(inputs.samples, std::move(isotonic), eval::FitIsotonic));
  const auto chosen = std::find_if(study.measured.begin(), study.measured.end(),
                                   [method](const MeasuredCalibration& one) {
                                     return !one.was_there && one.calibration.method == method;
                                   });
  study.chosen = static_cast<size_t>(chosen - study.measured.begin());
  return study;
}

}  // namespace tandem::app
