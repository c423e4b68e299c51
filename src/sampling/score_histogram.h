// How the scores of all pairs are spread, kept up to date while single scores change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::sampling {

// Counts scores in 2^21 buckets of width 2^-20 over [-1, 1]; a cosine of float32 arithmetic is not
// known more exactly. Scores outside are counted at the ends. 8 MiB, whatever the number of scores;
// adding, removing and looking up take 21 steps each.
class ScoreHistogram {
 public:
  static constexpr uint32_t kBuckets = uint32_t{1} << 21;

  // The bucket of a score; higher scores have higher buckets. NaN has the lowest.
  static uint32_t BucketOf(float score);

  ScoreHistogram() : counts_(kBuckets + 1) {}
  // Begins anew with these scores, except where `counts(i)` is false for number i; in linear time.
  template <typename Counts>
  void Assign(std::span<const float> scores, const Counts& counts) {
    Clear();
    for (size_t i = 0; i < scores.size(); ++i) {
      if (counts(i)) ++counts_[kBuckets - BucketOf(scores[i])];
    }
    Sum();
  }
  void Add(float score) { Change(BucketOf(score), 1); }
  void Remove(float score) { Change(BucketOf(score), -1); }
  size_t size() const { return size_; }

  // The bucket of the score that exactly `above` scores can be above: number `above`, from 0, of all
  // scores in descending order. At most `above` scores are in buckets above it. `above` must be less
  // than size().
  uint32_t BucketBelow(size_t above) const;

 private:
  void Clear();
  void Sum();  // from the counts of single buckets to the tree
  void Change(uint32_t bucket, int32_t by);

  // A Fenwick tree from the highest bucket on: node i of [1, kBuckets] counts the buckets
  // kBuckets - i and the lowest-bit(i) - 1 above it.
  std::vector<uint32_t> counts_;
  size_t size_ = 0;
};

}  // namespace tandem::sampling
