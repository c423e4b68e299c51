#include "sampling/score_histogram.h"

#include <algorithm>

namespace tandem::sampling {

uint32_t ScoreHistogram::BucketOf(float score) {
  if (!(score > -1)) return 0;
  const double place = (static_cast<double>(score) + 1) * (kBuckets / 2.0);
  return static_cast<uint32_t>(std::min<double>(place, kBuckets - 1));
}

void ScoreHistogram::Clear() { std::fill(counts_.begin(), counts_.end(), 0); }

void ScoreHistogram::Sum() {
  size_ = 0;
  for (const uint32_t count : counts_) size_ += count;
  for (uint32_t node = 1; node <= kBuckets; ++node) {
    const uint32_t parent = node + (node & -node);
    if (parent <= kBuckets) counts_[parent] += counts_[node];
  }
}

void ScoreHistogram::Change(uint32_t bucket, int32_t by) {
  for (uint32_t node = kBuckets - bucket; node <= kBuckets; node += node & -node) {
    counts_[node] += static_cast<uint32_t>(by);
  }
  size_ += static_cast<size_t>(static_cast<int64_t>(by));
}

uint32_t ScoreHistogram::BucketBelow(size_t above) const {
  uint32_t node = 0;  // nodes up to it count no more than `above` scores together
  size_t counted = 0;
  for (uint32_t step = kBuckets; step > 0; step /= 2) {
    if (node + step > kBuckets || counted + counts_[node + step] > above) continue;
    node += step;
    counted += counts_[node];
  }
  return kBuckets - 1 - node;
}

}  // namespace tandem::sampling
