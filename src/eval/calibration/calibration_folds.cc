#include "eval/calibration/calibration_folds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"

namespace tandem::eval {

std::vector<size_t> CalibrationFolds(std::span<const QuerySamples> samples) {
  std::vector<size_t> order(samples.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  RandomStream stream({.seed = 1, .purpose = "calibration folds"});
  stream.Shuffle(std::span(order));
  const auto others = std::stable_partition(
      order.begin(), order.end(), [&](size_t i) { return !samples[i].positives.empty(); });
  const auto with_positives = static_cast<size_t>(others - order.begin());
  if (with_positives < 2) {
    throw DataError(
        "calibration", 0, "",
        fmt::format("{} of {} queries has a positive that the corpus holds; it needs at "
                    "least two, so that its error is measured on other queries than "
                    "those that it is fitted to: give a larger --split",
                    with_positives, samples.size()));
  }
  const size_t folds = std::min(kCalibrationFolds, with_positives);
  std::vector<size_t> fold_of(samples.size());
  for (size_t i = 0; i < order.size(); ++i) fold_of[order[i]] = i % folds;
  return fold_of;
}

std::vector<QueryForecasts> HeldOutForecasts(std::span<const QuerySamples> samples,
                                             const FitMap& fit) {
  const std::vector<size_t> fold_of = CalibrationFolds(samples);
  const size_t folds = *std::max_element(fold_of.begin(), fold_of.end()) + 1;
  std::vector<QueryForecasts> forecasts(samples.size());
  for (size_t fold = 0; fold < folds; ++fold) {
    std::vector<LabelledScore> labelled;
    for (size_t q = 0; q < samples.size(); ++q) {
      if (fold_of[q] == fold) continue;
      const std::vector<LabelledScore> of_query = LabelledScoresOf(samples.subspan(q, 1));
      labelled.insert(labelled.end(), of_query.begin(), of_query.end());
    }
    const ProbabilityMap map = fit(labelled);
    for (size_t q = 0; q < samples.size(); ++q) {
      if (fold_of[q] == fold) forecasts[q] = ForecastsOf(samples[q], map);
    }
  }
  return forecasts;
}

}  // namespace tandem::eval
