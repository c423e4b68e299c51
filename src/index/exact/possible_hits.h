// Rows that may be among the best k of a query, judged by scores whose errors are bounded.
//
// A kind of index that keeps short rows scores them wrongly, but by no more than it knows. So it
// looks at intervals: a row can be left out only when k others are better for certain. What remains
// is scored with the float32 rows, and the result is that of an exact search, not one that is
// likely to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "index/vector_index.h"
#include "tensor/kernels/cpu/rows/score_rows.h"

namespace tandem::index {

// The meaning of the upper bounds u of a query's scores: the float32 score of row r, times
// `factor`, is at least u - span * weight(r) - slack and at most u + slack.
struct ScoreBound {
  double factor = 1;
  float span = 0;
  double slack = 0;
};

// The candidates of one query; used by one thread at a time.
class PossibleHits {
 public:
  // `weights` [rows]: those of the bound; null: 1 for every row. `rows`: how many are offered at
  // most.
  PossibleHits(size_t k, size_t rows, const float* weights, const ScoreBound& bound);

  // Rows with upper bounds below it cannot be among the best k.
  float limit() const { return limit_; }

  // upper[i] is the bound of row first + i; -infinity: not that row.
  void Offer(const float* upper, size_t count, uint32_t first);
  void Add(float upper, uint32_t row);

  std::span<const float> upper() const { return {upper_.get(), size_}; }
  std::span<const uint32_t> rows() const { return {rows_.get(), size_}; }

 private:
  void Reserve(size_t capacity);
  void Shrink();
  float KthLower() const;

  size_t k_;
  const float* weights_;
  ScoreBound bound_;
  size_t capacity_ = 0;
  size_t size_ = 0;
  float limit_ = std::numeric_limits<float>::lowest();
  std::unique_ptr<float[]> upper_;  // [capacity_ + kScorePadding], as rows_
  std::unique_ptr<uint32_t[]> rows_;
};

// The best k rows of what several threads have collected for one query [E], by their dot products
// with the float32 rows: best first, equal scores by row.
std::vector<RowHit> BestOf(std::span<const PossibleHits* const> parts, const float* query,
                           const VectorRows& rows, size_t k, const float* weights,
                           const ScoreBound& bound);

}  // namespace tandem::index
