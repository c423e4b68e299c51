// Cross-validation of a calibration: every query's probabilities come from a map that was fitted
// without the query.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "eval/calibration/calibration.h"
#include "eval/calibration/reliability.h"

namespace tandem::eval {

inline constexpr size_t kCalibrationFolds = 5;

// The fold of each query, below kCalibrationFolds, or below the number of queries with a scored
// positive where that is less. Queries with a positive are shuffled (always in the same way) and
// dealt out in turn, then the others, so that each fold has its share of both. Throws DataError
// where fewer than two queries have a positive.
std::vector<size_t> CalibrationFolds(std::span<const QuerySamples> samples);

using ProbabilityMap = std::function<double(double score)>;
using FitMap = std::function<ProbabilityMap(std::span<const LabelledScore>)>;

// Gives each query the forecasts of the map that `fit` made of all folds but its own. Throws what
// `fit` throws.
std::vector<QueryForecasts> HeldOutForecasts(std::span<const QuerySamples> samples,
                                             const FitMap& fit);

}  // namespace tandem::eval
