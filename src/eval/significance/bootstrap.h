// The bootstrap over queries: how much a figure would differ with other queries of the same kind.
//
// A resample draws as many queries as there are, with replacement. Resample r of a seed has the
// same queries for every figure and system, whatever the number of threads, so that differences
// between systems are paired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "eval/samples/score_levels.h"
#include "eval/samples/score_walk.h"

namespace tandem::eval {

struct Interval {
  double low = 0;
  double high = 0;
};

struct BootstrapOptions {
  uint64_t seed = 0;
  size_t resamples = 10'000;  // at least 1
  double confidence = 0.95;   // above 0, below 1
  int threads = 1;
};

// counts[q] becomes how often resample `resample` draws query q; they add up to counts.size(),
// which must be below 2^32. The chance of a query differs from 1/Q by less than Q / 2^32 of itself.
void DrawCounts(uint64_t seed, size_t resample, std::span<uint32_t> counts);

// The weights of resamples `first` to `first + lanes - 1`, each in a lane; lanes from `lanes` on
// have weight 0.
LaneWeights DrawLanes(uint64_t seed, size_t first, size_t lanes, size_t queries);

// The percentile interval (Efron 1979): the quantiles (1 - confidence) / 2 and (1 + confidence) / 2
// of `values`, interpolated between neighbours. `values` holds no NaN, and at least one value.
Interval PercentileInterval(std::vector<double> values, double confidence);

// Says how often a figure over all samples is computed where `asked` times are wanted: as often as
// 5 * 10^9 visits of a sample allow, at least 1,000 times (or `asked`, where that is less). It
// depends on the sizes alone, so that results can be repeated on any machine.
size_t Repetitions(size_t asked, size_t samples);

// The mean of `values` in each resample, [options.resamples].
std::vector<double> ResampledMeans(std::span<const double> values, const BootstrapOptions& options);

}  // namespace tandem::eval
