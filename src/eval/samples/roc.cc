#include "eval/samples/roc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/process/threads.h"

namespace tandem::eval {
namespace {

constexpr double kNoRate = std::numeric_limits<double>::quiet_NaN();

std::optional<double> ValueOf(double value) {
  return std::isnan(value) ? std::nullopt : std::optional<double>(value);
}

// The sums of which the figures are made, in documents and pairs of documents.
struct Sums {
  Lanes limit{};    // others up to which the partial area reaches
  Lanes area{};     // pairs that a positive wins
  Lanes partial{};  // `area` up to the limit
  Lanes precision{};
  bool partial_goes_on = true;

  void AddPartial(const LevelLanes& at) {
    bool goes_on = false;
    for (size_t l = 0; l < kLanes; ++l) {
      const double width =
          std::min(at.others[l] + at.more_others[l], limit[l]) - std::min(at.others[l], limit[l]);
      if (width > 0) {
        // The height in the middle of the part of the segment that lies before the limit.
        partial[l] +=
            width * (at.positives[l] + at.more_positives[l] * (width / at.more_others[l]) / 2);
      }
      goes_on = goes_on || at.others[l] + at.more_others[l] < limit[l];
    }
    partial_goes_on = goes_on;
  }

  void Add(const LevelLanes& at) {
    for (size_t l = 0; l < kLanes; ++l) {
      area[l] += at.more_others[l] * (at.positives[l] + at.more_positives[l] / 2);
    }
    if (partial_goes_on) AddPartial(at);
    if (!at.has_positives) return;
    for (size_t l = 0; l < kLanes; ++l) {
      const double found = at.positives[l] + at.more_positives[l];
      if (found > 0) {
        precision[l] += at.more_positives[l] * (found / (found + at.others[l] + at.more_others[l]));
      }
    }
  }
};

// Every point of both curves; positives and others are the totals of the rates.
std::vector<CurvePoint> AllPoints(const ScoreLevels& levels) {
  double positives = 0, others = 0;
  for (size_t q = 0; q < levels.queries(); ++q) {
    positives += static_cast<double>(levels.positives[q]);
    others += static_cast<double>(levels.others[q]);
  }
  std::vector<CurvePoint> points;
  points.reserve(levels.size());
  double found = 0, wrong = 0;
  for (size_t level = 0; level < levels.size(); ++level) {
    for (const LevelCount& count : levels.CountsOf(level)) {
      found += count.positives;
      wrong += count.others;
    }
    points.push_back({.threshold = levels.scores[level],
                      .false_positive_rate = others > 0 ? wrong / others : kNoRate,
                      .recall = positives > 0 ? found / positives : kNoRate,
                      .precision = found / (found + wrong)});
  }
  return points;
}

}  // namespace

FigureLanes FiguresOf(const ScoreLevels& levels, std::span<const Lanes> weights) {
  const Lanes positives = WeightedTotal(levels.positives, weights);
  const Lanes others = WeightedTotal(levels.others, weights);
  Sums sums;
  for (size_t l = 0; l < kLanes; ++l) sums.limit[l] = others[l] * kPartialFalsePositiveRate;
  WalkLevels(levels, weights, [&](const LevelLanes& at) {
    sums.Add(at);
    return true;
  });
  FigureLanes figures;
  for (size_t l = 0; l < kLanes; ++l) {
    const bool pairs = positives[l] > 0 && others[l] > 0;
    figures.auc[l] = pairs ? sums.area[l] / (positives[l] * others[l]) : kNoRate;
    figures.partial_auc[l] = pairs ? sums.partial[l] / (positives[l] * sums.limit[l]) : kNoRate;
    figures.average_precision[l] = positives[l] > 0 ? sums.precision[l] / positives[l] : kNoRate;
  }
  return figures;
}

PoolFigures FiguresOf(const ScoreLevels& levels) {
  Lanes first{};
  first[0] = 1;
  const FigureLanes figures = FiguresOf(levels, LaneWeights(levels.queries(), first));
  return {ValueOf(figures.auc[0]), ValueOf(figures.partial_auc[0]),
          ValueOf(figures.average_precision[0])};
}

std::optional<double> PartialAuc(std::span<const QuerySamples> samples) {
  return FiguresOf(PoolLevels(samples)).partial_auc;
}

std::optional<double> PoolAveragePrecision(std::span<const QuerySamples> samples) {
  return FiguresOf(PoolLevels(samples)).average_precision;
}

ResampledFigures ResampleFigures(const ScoreLevels& levels, const BootstrapOptions& options) {
  const size_t count = options.resamples;
  ResampledFigures resampled{std::vector<double>(count), std::vector<double>(count),
                             std::vector<double>(count)};
  ParallelFor(count, kLanes, options.threads, [&](size_t begin, size_t end) {
    const LaneWeights weights = DrawLanes(options.seed, begin, end - begin, levels.queries());
    const FigureLanes figures = FiguresOf(levels, weights);
    for (size_t r = begin; r < end; ++r) {
      resampled.auc[r] = figures.auc[r - begin];
      resampled.partial_auc[r] = figures.partial_auc[r - begin];
      resampled.average_precision[r] = figures.average_precision[r - begin];
    }
  });
  return resampled;
}

std::optional<Interval> IntervalOfValues(std::span<const double> values, double confidence) {
  std::vector<double> there;
  std::copy_if(values.begin(), values.end(), std::back_inserter(there),
               [](double value) { return !std::isnan(value); });
  if (there.empty()) return std::nullopt;
  return PercentileInterval(std::move(there), confidence);
}

PoolIntervals FigureIntervals(const ScoreLevels& levels, BootstrapOptions options) {
  options.resamples = Repetitions(options.resamples, levels.counts.size());
  const ResampledFigures resampled = ResampleFigures(levels, options);
  return {.auc = IntervalOfValues(resampled.auc, options.confidence),
          .partial_auc = IntervalOfValues(resampled.partial_auc, options.confidence),
          .average_precision = IntervalOfValues(resampled.average_precision, options.confidence),
          .resamples = options.resamples};
}

std::vector<CurvePoint> RocCurve(const ScoreLevels& levels, size_t points) {
  const std::vector<CurvePoint> all = AllPoints(levels);
  if (all.empty() || std::isnan(all.back().recall) || std::isnan(all.back().false_positive_rate)) {
    return {};
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<CurvePoint> curve = {{.threshold = kInfinity}};
  // The least rate above 0 and 1 are the ends of the logarithmic axis.
  const auto above = std::find_if(all.begin(), all.end(), [](const CurvePoint& point) {
    return point.false_positive_rate > 0;
  });
  const double span = above == all.end() ? 0 : -std::log10(above->false_positive_rate);
  const auto bin = [&](const CurvePoint& point) {
    if (point.false_positive_rate <= 0) return -1.0;
    const double along = (std::log10(point.false_positive_rate) + span) / std::max(span, 1e-300);
    return std::floor(along * static_cast<double>(points));
  };
  for (size_t i = 0; i < all.size(); ++i) {
    const bool last_of_bin = i + 1 == all.size() || bin(all[i]) != bin(all[i + 1]);
    if (all.size() <= points || last_of_bin) curve.push_back(all[i]);
  }
  if (curve.back().recall < 1 || curve.back().false_positive_rate < 1) {
    curve.push_back({.threshold = -kInfinity,
                     .false_positive_rate = 1,
                     .recall = 1,
                     .precision = all.back().precision});
  }
  return curve;
}

std::vector<CurvePoint> PrecisionRecallCurve(const ScoreLevels& levels, size_t points) {
  const std::vector<CurvePoint> all = AllPoints(levels);
  if (all.empty() || std::isnan(all.back().recall)) return {};
  std::vector<CurvePoint> curve;
  double kept = -1;
  for (size_t i = 0; i < all.size(); ++i) {
    const double bin = std::floor(all[i].recall * static_cast<double>(points));
    if (all.size() > points && bin == kept && i + 1 < all.size()) continue;
    kept = bin;
    curve.push_back(all[i]);
  }
  return curve;
}

}  // namespace tandem::eval
