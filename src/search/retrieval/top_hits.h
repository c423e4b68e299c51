// The best hits of one query among scores that come piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "search/retrieval/hits.h"
#include "tensor/kernels/cpu/rows/score_rows.h"

namespace tandem::search {

// Collects every score that is not below the worst one that could still count, and throws away the
// surplus when it has twice as many as asked for: a score costs a comparison, nearly always.
//
//   TopHits top(100, documents.size());
//   for each piece: top.Offer(scores, first_document, order);
//   const std::vector<Hit> best = top.Take(order);
class TopHits {
 public:
  // `documents`: how many will be offered at most. `depth` may exceed it; 0 finds nothing.
  TopHits(size_t depth, size_t documents);

  // scores[i] is that of document first + i; a NaN is never found.
  void Offer(std::span<const float> scores, uint32_t first, const HitOrder& order);

  // The hits, best first, at most `depth`; the object is then empty.
  std::vector<Hit> Take(const HitOrder& order);

  // Bytes that such an object takes, once it has been offered something.
  static size_t Bytes(size_t depth, size_t documents);

 private:
  // Hits that it holds before it shrinks.
  static size_t Capacity(size_t depth, size_t documents);
  tensor::cpu::ScoredRows View() { return {scores_.get(), rows_.get(), size_}; }
  // Keeps the best `depth_` of more hits than that, and those that score like the last of them
  // unless they are many.
  void Shrink(const HitOrder& order);
  // Keeps exactly the best `depth_` of more hits than that.
  void KeepBest(const HitOrder& order);
  std::vector<Hit> Hits() const;

  size_t depth_;
  size_t capacity_;
  size_t size_ = 0;
  float limit_ = -std::numeric_limits<float>::infinity();  // scores below it cannot count
  // Scores in no order. [capacity_ + kScorePadding], once there is something to hold.
  std::unique_ptr<float[]> scores_;
  std::unique_ptr<uint32_t[]> rows_;
};

}  // namespace tandem::search
