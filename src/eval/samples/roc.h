// Computes the ROC and the precision-recall curve of pooled samples: areas, points for plots, and
// intervals.
//
//   const ScoreLevels levels = PoolLevels(samples);
//   const PoolFigures figures = FiguresOf(levels);
//   const PoolIntervals intervals = FigureIntervals(levels, {.seed = 1, .threads = 8});
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "eval/samples/auc.h"
#include "eval/samples/score_levels.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {

// Partial areas end at this false-positive rate (METHODS §4).
inline constexpr double kPartialFalsePositiveRate = 0.1;

// The figures have no value without a positive, both areas also none without another document.
//
// auc: P(s+ > s-) + 1/2 P(s+ = s-), the area under the ROC curve.
// partial_auc: the area under the ROC curve up to a false-positive rate of 0.1, divided by 0.1, so
//   that a perfect order has 1; chance has 0.05. Between two points the curve is a straight line
//   (documents of equal scores are in no order), also where it crosses the border. It is not
//   standardised by McClish's formula.
// average_precision: sum over levels of (recall gained on the level) * (precision down to the
//   level's end). Documents of equal scores come together, so that their order changes nothing.
//   Positives without a score are never found.
struct PoolFigures {
  std::optional<double> auc;
  std::optional<double> partial_auc;
  std::optional<double> average_precision;
};
PoolFigures FiguresOf(const ScoreLevels& levels);

// Computes the partial area from samples.
std::optional<double> PartialAuc(std::span<const QuerySamples> samples);
std::optional<double> PoolAveragePrecision(std::span<const QuerySamples> samples);

// The figures for kLanes weightings at once; NaN where there is no value.
struct FigureLanes {
  Lanes auc{};
  Lanes partial_auc{};
  Lanes average_precision{};
};
FigureLanes FiguresOf(const ScoreLevels& levels, std::span<const Lanes> weights);

// The figures of every resample (eval/significance/bootstrap.h), [resamples] each; NaN where a
// resample has no value. `options.resamples` of them, whatever Repetitions says.
struct ResampledFigures {
  std::vector<double> auc;
  std::vector<double> partial_auc;
  std::vector<double> average_precision;
};
ResampledFigures ResampleFigures(const ScoreLevels& levels, const BootstrapOptions& options);

// Percentile intervals over resamples with a value; none where no resample has one.
struct PoolIntervals {
  std::optional<Interval> auc;
  std::optional<Interval> partial_auc;
  std::optional<Interval> average_precision;
  size_t resamples = 0;  // Repetitions(options.resamples, samples)
};
PoolIntervals FigureIntervals(const ScoreLevels& levels, BootstrapOptions options);

// The interval of the values that are no NaN; none where there is no such value.
std::optional<Interval> IntervalOfValues(std::span<const double> values, double confidence);

// A point of both curves: what a threshold shows. Rates are shares of all positives and others of
// the levels.
struct CurvePoint {
  double threshold = 0;  // documents scoring at least this; infinite at the two ends of a curve
  double false_positive_rate = 0;
  double recall = 0;     // true-positive rate
  double precision = 1;  // 1 where nothing is shown
};

// The ROC curve from (0, 0) to (1, 1), thinned to about `points` points that are evenly spread over
// the logarithm of the false-positive rate, and all points of the curve where there are fewer.
// Every point is a point of the curve, both ends are there. It is empty where there is no positive
// or no other.
std::vector<CurvePoint> RocCurve(const ScoreLevels& levels, size_t points = 400);

// The precision-recall curve in ascending recall, thinned to about `points` points evenly spread
// over recall: of levels whose recall lies in the same step the highest is taken. The first level
// and the last one are there. It is empty where there is no positive.
std::vector<CurvePoint> PrecisionRecallCurve(const ScoreLevels& levels, size_t points = 400);

}  // namespace tandem::eval
