#include "index/graph/best_rows.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "index/graph/row_products.h"

namespace tandem::index {

void BestRows::Insert(RowHit hit) {
  if (depth_ == 0) return;
  if (full()) {
    if (!Better(hit, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), Better);
    heap_.back() = hit;
  } else {
    heap_.push_back(hit);
  }
  std::push_heap(heap_.begin(), heap_.end(), Better);
  if (full()) limit_ = heap_.front().score;
}

std::vector<RowHit> BestRows::Take() {
  std::sort(heap_.begin(), heap_.end(), Better);
  limit_ = -std::numeric_limits<float>::infinity();
  return std::exchange(heap_, {});
}

std::vector<RowHit> ScoreExactly(const VectorRows& rows, const float* query,
                                 const std::vector<RowHit>& candidates, size_t k) {
  BestRows best(k);
  for (const RowHit& candidate : candidates) {
    if (candidate.row >= rows.count) continue;
    const float score =
        DotProduct(query, rows.values + size_t{candidate.row} * rows.width, rows.width);
    if (score == score) best.Offer(candidate.row, score);
  }
  return best.Take();
}

std::vector<RowHit> ScanAllowed(const VectorRows& rows, const float* query, const RowMask* allowed,
                                size_t k) {
  BestRows best(k);
  const auto offer = [&](size_t row) {
    const float score = DotProduct(query, rows.values + row * rows.width, rows.width);
    if (score == score) best.Offer(static_cast<uint32_t>(row), score);
  };
  if (!allowed) {
    for (size_t row = 0; row < rows.count; ++row) offer(row);
    return best.Take();
  }
  for (size_t word = 0; word * 64 < rows.count; ++word) {
    for (uint64_t bits = allowed->words[word]; bits; bits &= bits - 1) {
      const size_t row = word * 64 + static_cast<size_t>(std::countr_zero(bits));
      if (row < rows.count) offer(row);
    }
  }
  return best.Take();
}

size_t CountAllowed(const RowMask* allowed, size_t count) {
  if (!allowed) return count;
  size_t found = 0;
  for (size_t word = 0; word < count / 64; ++word) {
    found += static_cast<size_t>(std::popcount(allowed->words[word]));
  }
  if (count % 64) {
    const uint64_t last = allowed->words[count / 64] & ((uint64_t{1} << (count % 64)) - 1);
    found += static_cast<size_t>(std::popcount(last));
  }
  return found;
}

}  // namespace tandem::index
