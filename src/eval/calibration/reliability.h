// Says how far probabilities are from what happens: calibration error, Brier score, log loss, and
// the reliability table.
//
//   std::vector<QueryForecasts> forecasts;
//   for (const QuerySamples& query : samples) forecasts.push_back(ForecastsOf(query, map));
//   const CalibrationReport report = ReportCalibration(forecasts);
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "eval/samples/auc.h"

namespace tandem::eval {

// A document with the probability that it is a positive, and whether it is one.
struct Forecast {
  double probability = 0;
  bool positive = false;
};

inline constexpr size_t kReliabilityBins = 15;  // as Guo et al. 2017

// The documents with a probability p in [b / 15, (b + 1) / 15); 1 is in the last bin. (Guo et al.
// close bins on the right; they differ only for probabilities that are exactly a border.)
struct ReliabilityBin {
  size_t count = 0;
  // 0 where there is none.
  double mean_probability = 0;
  double share_of_positives = 0;
};

struct CalibrationFigures {
  size_t documents = 0;
  size_t positives = 0;
  // Expected calibration error: sum over bins of count / documents times |mean probability - share
  // of positives|. 0 is best. Source: Naeini et al. 2015; Guo et al. 2017, eq. 3.
  double error = 0;
  double brier = 0;     // mean of (p - y)^2, Brier 1950
  double log_loss = 0;  // mean of -log(p of what happened), p clamped into [e, 1 - e]
  std::array<ReliabilityBin, kReliabilityBins> bins;
};

// e of the log loss, 2^-52: a probability of 0 for a positive, which isotonic regression can give,
// costs 36 and not infinity. scikit-learn does the same for double precision.
inline constexpr double kLeastProbability = 0x1p-52;

// Throws DataError where there is no forecast.
CalibrationFigures MeasureCalibration(std::span<const Forecast> forecasts);

using QueryForecasts = std::vector<Forecast>;  // of one query, by score, best first

// The sampled documents of a query. Where scores tie, negatives stand before positives, since
// samples do not say which document a score is of. Missing positives are left out.
QueryForecasts ForecastsOf(const QuerySamples& samples,
                           const std::function<double(double score)>& probability);

// Says how many of a query's best documents count in CalibrationReport::errors_at.
inline constexpr std::array<size_t, 3> kCalibrationDepths = {1, 10, 100};

struct CalibrationReport {
  CalibrationFigures figures;  // of all documents of all queries
  // The expected calibration error of each query's best 1, 10 and 100 documents, which are what
  // users see. Complete where the samples are those of eval/samples/auc.h: they hold each query's
  // kNegativesPerQuery best negatives and all positives.
  std::array<double, kCalibrationDepths.size()> errors_at{};
};

// Throws as MeasureCalibration.
CalibrationReport ReportCalibration(std::span<const QueryForecasts> queries);

}  // namespace tandem::eval
