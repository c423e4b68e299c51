#include "search/retrieval/top_hits.h"

#include <algorithm>
#include <stdexcept>

namespace tandem::search {
namespace {

using tensor::cpu::kScorePadding;

// Hits beyond the depth before the surplus is thrown away: as many as the depth, and so many that
// small depths do not shrink all the time.
size_t Surplus(size_t depth) { return std::max<size_t>(depth, 64); }

}  // namespace

size_t TopHits::Capacity(size_t depth, size_t documents) {
  return depth >= documents ? documents : std::min(documents, depth + Surplus(depth));
}

size_t TopHits::Bytes(size_t depth, size_t documents) {
  constexpr size_t kAllocations = 64;  // bytes that the C library adds to two of them
  return sizeof(TopHits) + kAllocations +
         (Capacity(depth, documents) + kScorePadding) * (sizeof(float) + sizeof(uint32_t));
}

TopHits::TopHits(size_t depth, size_t documents)
    : depth_(std::min(depth, documents)), capacity_(Capacity(depth, documents)) {}

void TopHits::Offer(std::span<const float> scores, uint32_t first, const HitOrder& order) {
  if (depth_ == 0) return;
  if (!scores_) {
    scores_ = std::make_unique_for_overwrite<float[]>(capacity_ + kScorePadding);
    rows_ = std::make_unique_for_overwrite<uint32_t[]>(capacity_ + kScorePadding);
  }
  for (size_t read = 0;;) {
    tensor::cpu::ScoredRows hits = View();
    read += tensor::cpu::AppendAtLeast(
        {scores.data() + read, scores.size() - read, first + static_cast<uint32_t>(read)}, limit_,
        capacity_, hits);
    size_ = hits.size;
    if (read == scores.size()) return;
    Shrink(order);
    if (size_ >= capacity_) throw std::logic_error("more documents were offered than announced");
  }
}

void TopHits::Shrink(const HitOrder& order) {
  limit_ = tensor::cpu::KthLargest(scores_.get(), size_, depth_);
  tensor::cpu::ScoredRows hits = View();
  tensor::cpu::KeepAtLeast(limit_, hits);
  size_ = hits.size;
  if (size_ > depth_ + Surplus(depth_) / 2) KeepBest(order);
}

void TopHits::KeepBest(const HitOrder& order) {
  std::vector<Hit> hits = Hits();
  const auto last = hits.begin() + static_cast<std::ptrdiff_t>(depth_);
  std::nth_element(hits.begin(), last, hits.end(), order);
  size_ = depth_;
  for (size_t i = 0; i < size_; ++i) {
    scores_[i] = hits[i].score;
    rows_[i] = hits[i].document;
  }
}

std::vector<Hit> TopHits::Hits() const {
  std::vector<Hit> hits;
  hits.reserve(size_);
  for (size_t i = 0; i < size_; ++i) hits.push_back({rows_[i], scores_[i]});
  return hits;
}

std::vector<Hit> TopHits::Take(const HitOrder& order) {
  if (size_ > depth_) Shrink(order);
  std::vector<Hit> hits = Hits();
  std::sort(hits.begin(), hits.end(), order);
  if (hits.size() > depth_) hits.resize(depth_);
  scores_.reset();
  rows_.reset();
  size_ = 0;
  limit_ = -std::numeric_limits<float>::infinity();
  return hits;
}

}  // namespace tandem::search
