#include "eval/significance/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "base/process/threads.h"
#include "base/random.h"

namespace tandem::eval {
namespace {

constexpr double kSampleVisits = 5e9;  // some 25 seconds of a processor for a test
constexpr size_t kLeastRepetitions = 1000;

// Resamples that a thread takes at a time.
constexpr size_t kResamplesAtOnce = 64;

// The sum of counts[q] * values[q], in eight sums that are added at the end, so that the compiler
// may use vectors; the order does not depend on the machine.
double WeightedSum(std::span<const uint32_t> counts, std::span<const double> values) {
  std::array<double, 8> sums{};
  size_t q = 0;
  for (; q + 8 <= values.size(); q += 8) {
    for (size_t i = 0; i < 8; ++i) sums[i] += counts[q + i] * values[q + i];
  }
  for (; q < values.size(); ++q) sums[q % 8] += counts[q] * values[q];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

}  // namespace

void DrawCounts(uint64_t seed, size_t resample, std::span<uint32_t> counts) {
  std::fill(counts.begin(), counts.end(), 0);
  RandomStream stream({.seed = seed, .purpose = "bootstrap", .epoch = resample});
  const uint64_t bound = counts.size();
  for (size_t i = 0; i < counts.size(); i += 2) {
    const uint64_t random = stream.Next();
    ++counts[((random & 0xFFFFFFFF) * bound) >> 32];
    if (i + 1 < counts.size()) ++counts[((random >> 32) * bound) >> 32];
  }
}

LaneWeights DrawLanes(uint64_t seed, size_t first, size_t lanes, size_t queries) {
  LaneWeights weights(queries, Lanes{});
  std::vector<uint32_t> counts(queries);
  for (size_t lane = 0; lane < lanes; ++lane) {
    DrawCounts(seed, first + lane, counts);
    for (size_t q = 0; q < queries; ++q) weights[q][lane] = counts[q];
  }
  return weights;
}

Interval PercentileInterval(std::vector<double> values, double confidence) {
  if (values.empty()) throw std::logic_error("an interval needs at least one value");
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<size_t>(std::floor(at));
    const size_t above = std::min(below + 1, values.size() - 1);
    const double part = at - static_cast<double>(below);
    // Equal neighbours may be infinite.
    if (values[below] == values[above]) return values[below];
    return values[below] + part * (values[above] - values[below]);
  };
  return {quantile((1 - confidence) / 2), quantile((1 + confidence) / 2)};
}

size_t Repetitions(size_t asked, size_t samples) {
  const double allowed = kSampleVisits / static_cast<double>(std::max<size_t>(1, samples));
  if (allowed >= static_cast<double>(asked)) return asked;
  return std::min(asked, std::max(kLeastRepetitions, static_cast<size_t>(allowed)));
}

std::vector<double> ResampledMeans(std::span<const double> values,
                                   const BootstrapOptions& options) {
  std::vector<double> means(options.resamples);
  ParallelFor(options.resamples, kResamplesAtOnce, options.threads, [&](size_t begin, size_t end) {
    std::vector<uint32_t> counts(values.size());
    for (size_t r = begin; r < end; ++r) {
      DrawCounts(options.seed, r, counts);
      means[r] = WeightedSum(counts, values) / static_cast<double>(values.size());
    }
  });
  return means;
}

}  // namespace tandem::eval
