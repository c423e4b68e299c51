// Says how the scores of all pairs are spread, kept up to date while single scores change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace tandem::sampling {

// Counts scores in 2^21 buckets of width 2^-20 over [-1, 1]; a cosine of float32 arithmetic is not
// known more exactly. Scores outside are counted at the ends. 8 MiB at most: the system gives what is
// written to. Adding and removing touch two numbers, looking up reads at most 3,072, one after the
// other.
class ScoreHistogram {
 public:
  static constexpr uint32_t kBuckets = uint32_t{1} << 21;

  // The bucket of a score; higher scores have higher buckets. NaN has the lowest.
  static uint32_t BucketOf(float score);

  ScoreHistogram();
  // Begins anew with these scores, except where `counts(i)` is false for number i.
  template <typename Counts>
  void Assign(std::span<const float> scores, const Counts& counts) {
    Clear();
    for (size_t i = 0; i < scores.size(); ++i) {
      if (counts(i)) Add(scores[i]);
    }
  }
  void Add(float score) { Change(BucketOf(score), 1); }
  void Remove(float score) { Change(BucketOf(score), UINT32_MAX); }
  size_t size() const { return size_; }

  // The bucket of the score that exactly `above` scores can be above: number `above`, from 0, of
  // all scores in descending order. At most `above` scores are in buckets above it. `above` must be
  // less than size().
  uint32_t BucketBelow(size_t above) const;

 private:
  static constexpr uint32_t kBucketsOfSum = 1024;
  static constexpr uint32_t kSums = kBuckets / kBucketsOfSum;

  struct Free {
    void operator()(uint32_t* memory) const { std::free(memory); }
  };

  void Clear();
  // `by` is added modulo 2^32.
  void Change(uint32_t bucket, uint32_t by) {
    counts_[bucket] += by;
    sums_[bucket / kBucketsOfSum] += by;
    size_ += static_cast<size_t>(static_cast<int32_t>(by));
  }

  std::unique_ptr<uint32_t[], Free> counts_;  // [kBuckets]
  std::vector<uint32_t> sums_;                // [kSums] of kBucketsOfSum buckets each
  size_t size_ = 0;
};

}  // namespace tandem::sampling
