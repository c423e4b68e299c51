#include "index/exact/possible_hits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tandem::index {
namespace {

using tensor::cpu::kScorePadding;
using tensor::cpu::ScoredRows;

// PossibleHits beyond k before those that cannot count are thrown away.
size_t Surplus(size_t k) { return std::max<size_t>(k, 64); }

// The k-th largest lower bound, less what both ends of an interval may be off; lowest() where there
// are fewer than k.
float LimitOf(std::span<const float> upper, std::span<const uint32_t> rows, size_t k,
              const float* weights, const ScoreBound& bound) {
  if (upper.size() < k) return std::numeric_limits<float>::lowest();
  float lower;
  if (weights == nullptr) {
    lower = tensor::cpu::KthLargest(upper.data(), upper.size(), k) - bound.span;
  } else {
    thread_local std::vector<float> all;
    all.resize(upper.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = upper[i] - bound.span * weights[rows[i]];
    lower = tensor::cpu::KthLargest(all.data(), all.size(), k);
  }
  return static_cast<float>(lower - 2 * bound.slack);
}

// Higher scores first, equal ones by row.
bool Better(const RowHit& a, const RowHit& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

}  // namespace

PossibleHits::PossibleHits(size_t k, size_t rows, const float* weights, const ScoreBound& bound)
    : k_(std::min(k, rows)), weights_(weights), bound_(bound) {}

void PossibleHits::Reserve(size_t capacity) {
  auto upper = std::make_unique_for_overwrite<float[]>(capacity + kScorePadding);
  auto rows = std::make_unique_for_overwrite<uint32_t[]>(capacity + kScorePadding);
  if (size_ > 0) {
    std::memcpy(upper.get(), upper_.get(), size_ * sizeof(float));
    std::memcpy(rows.get(), rows_.get(), size_ * sizeof(uint32_t));
  }
  upper_ = std::move(upper);
  rows_ = std::move(rows);
  capacity_ = capacity;
}

void PossibleHits::Shrink() {
  if (capacity_ == 0) return Reserve(k_ + Surplus(k_));
  limit_ = std::max(limit_, LimitOf(upper(), rows(), k_, weights_, bound_));
  ScoredRows kept{upper_.get(), rows_.get(), size_};
  tensor::cpu::KeepAtLeast(limit_, kept);
  size_ = kept.size;
  // Many rows may score nearly the same; it must stay rare that they are looked through.
  if (size_ > capacity_ - Surplus(k_) / 2) Reserve(2 * capacity_);
}

void PossibleHits::Offer(const float* upper, size_t count, uint32_t first) {
  for (size_t read = 0; read < count;) {
    ScoredRows to{upper_.get(), rows_.get(), size_};
    read += tensor::cpu::AppendAtLeast(
        {upper + read, count - read, first + static_cast<uint32_t>(read)}, limit_, capacity_, to);
    size_ = to.size;
    if (read < count) Shrink();
  }
}

void PossibleHits::Add(float upper, uint32_t row) {
  if (!(upper >= limit_)) return;
  if (size_ >= capacity_) Shrink();
  if (!(upper >= limit_)) return;
  upper_[size_] = upper;
  rows_[size_++] = row;
}

std::vector<RowHit> BestOf(std::span<const PossibleHits* const> parts, const float* query,
                           const VectorRows& rows, size_t k, const float* weights,
                           const ScoreBound& bound) {
  std::vector<float> upper;
  std::vector<uint32_t> numbers;
  for (const PossibleHits* part : parts) {
    upper.insert(upper.end(), part->upper().begin(), part->upper().end());
    numbers.insert(numbers.end(), part->rows().begin(), part->rows().end());
  }
  if (k == 0 || upper.empty()) return {};
  const float limit = LimitOf(upper, numbers, k, weights, bound);
  std::vector<RowHit> left;
  for (size_t i = 0; i < upper.size(); ++i) {
    if (upper[i] >= limit) left.push_back({numbers[i], upper[i]});
  }
  std::sort(left.begin(), left.end(), Better);
  // A heap with the worst hit in front.
  std::vector<RowHit> best;
  for (const RowHit& candidate : left) {
    if (best.size() == k && (candidate.score + bound.slack) / bound.factor < best.front().score) {
      break;  // no later one scores higher
    }
    const float score =
        tensor::cpu::DotProduct(rows.values + candidate.row * rows.width, query, rows.width);
    best.push_back({candidate.row, score});
    std::push_heap(best.begin(), best.end(), Better);
    if (best.size() <= k) continue;
    std::pop_heap(best.begin(), best.end(), Better);
    best.pop_back();
  }
  std::sort(best.begin(), best.end(), Better);
  return best;
}

}  // namespace tandem::index
