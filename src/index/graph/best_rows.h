// The best rows of a search: collected by approximate scores, then scored exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "index/vector_index.h"

namespace tandem::index {

// Higher scores first, equal ones by row. A NaN is never offered.
inline bool Better(const RowHit& a, const RowHit& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

// Keeps the best `depth` of what is offered.
class BestRows {
 public:
  explicit BestRows(size_t depth) : depth_(depth) {}
  void Offer(uint32_t row, float score) {
    if (score < limit_) return;
    Insert({row, score});
  }
  size_t size() const { return heap_.size(); }
  bool full() const { return heap_.size() >= depth_; }
  // The score below which nothing is kept.
  float limit() const { return limit_; }
  // Best first; the object is then empty.
  std::vector<RowHit> Take();

 private:
  void Insert(RowHit hit);
  size_t depth_;
  float limit_ = -std::numeric_limits<float>::infinity();
  std::vector<RowHit> heap_;  // the worst in front
};

// The best k of the candidates by their dot product with the float32 rows, best first. A candidate
// that is no row (of a damaged file) is left out, and so is one whose score is NaN.
std::vector<RowHit> ScoreExactly(const VectorRows& rows, const float* query,
                                 const std::vector<RowHit>& candidates, size_t k);

// The best k of the allowed rows, scored one by one.
std::vector<RowHit> ScanAllowed(const VectorRows& rows, const float* query, const RowMask* allowed,
                                size_t k);

// Says how many of `count` rows the mask allows; all without a mask.
size_t CountAllowed(const RowMask* allowed, size_t count);

}  // namespace tandem::index
