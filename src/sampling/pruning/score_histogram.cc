#include "sampling/pruning/score_histogram.h"

#include <algorithm>
#include <new>

namespace tandem::sampling {

ScoreHistogram::ScoreHistogram()
    : counts_(static_cast<uint32_t*>(std::calloc(kBuckets, sizeof(uint32_t)))), sums_(kSums) {
  if (!counts_) throw std::bad_alloc();
}

uint32_t ScoreHistogram::BucketOf(float score) {
  if (!(score > -1)) return 0;
  const double place = (static_cast<double>(score) + 1) * (kBuckets / 2.0);
  return static_cast<uint32_t>(std::min<double>(place, kBuckets - 1));
}

void ScoreHistogram::Clear() {
  for (uint32_t sum = 0; sum < kSums; ++sum) {
    if (sums_[sum] == 0) continue;
    std::fill_n(&counts_[size_t{sum} * kBucketsOfSum], kBucketsOfSum, 0U);
    sums_[sum] = 0;
  }
  size_ = 0;
}

uint32_t ScoreHistogram::BucketBelow(size_t above) const {
  size_t counted = 0;
  uint32_t sum = kSums - 1;
  for (; counted + sums_[sum] <= above; --sum) counted += sums_[sum];
  uint32_t bucket = (sum + 1) * kBucketsOfSum - 1;
  for (; counted + counts_[bucket] <= above; --bucket) counted += counts_[bucket];
  return bucket;
}

}  // namespace tandem::sampling
