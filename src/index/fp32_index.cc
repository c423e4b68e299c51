#include <algorithm>
#include <mutex>

#include "base/threads.h"
#include "index/vector_index.h"

namespace tandem::index {
namespace {

bool Better(const RowHit& a, const RowHit& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

// The best `k` of some hits; a heap whose top is the worst.
class BestHits {
 public:
  explicit BestHits(size_t k) : k_(k) {}
  void Offer(RowHit hit) {
    if (k_ == 0 || (hits_.size() == k_ && !Better(hit, hits_.front()))) return;
    if (hits_.size() == k_) {
      std::pop_heap(hits_.begin(), hits_.end(), Better);
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::push_heap(hits_.begin(), hits_.end(), Better);
  }
  const std::vector<RowHit>& hits() const { return hits_; }

 private:
  size_t k_;
  std::vector<RowHit> hits_;
};

float Dot(const float* a, const float* b, size_t width) {
  float sum = 0;
  for (size_t i = 0; i < width; ++i) sum += a[i] * b[i];
  return sum;
}

class Fp32Index final : public VectorIndex {
 public:
  explicit Fp32Index(const VectorRows& rows) : rows_(rows) {}

  void Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const override {
    constexpr size_t kGrain = 4096;  // rows
    std::vector<BestHits> best(query.count, BestHits(query.k));
    std::mutex mutex;
    ParallelFor(rows_.count, kGrain, query.threads, [&](size_t begin, size_t end) {
      std::vector<BestHits> own(query.count, BestHits(query.k));
      for (size_t row = begin; row < end; ++row) {
        if (query.allowed != nullptr && !(*query.allowed)[row]) continue;
        for (size_t q = 0; q < query.count; ++q) {
          own[q].Offer(
              {static_cast<uint32_t>(row), Dot(query.queries + q * rows_.width,
                                               rows_.values + row * rows_.width, rows_.width)});
        }
      }
      const std::lock_guard lock(mutex);
      for (size_t q = 0; q < query.count; ++q) {
        for (const RowHit& hit : own[q].hits()) best[q].Offer(hit);
      }
    });
    for (size_t q = 0; q < query.count; ++q) {
      found[q] = best[q].hits();
      std::sort(found[q].begin(), found[q].end(), Better);
    }
  }

  uint64_t resident_bytes() const override { return rows_.count * rows_.width * sizeof(float); }

 private:
  VectorRows rows_;
};

std::unique_ptr<VectorIndex> Open(const VectorRows& rows, const config::Params&,
                                  const std::filesystem::path&) {
  return std::make_unique<Fp32Index>(rows);
}

}  // namespace

extern const IndexKindInfo kFp32;
extern const IndexKindMaker kFp32Maker{&kFp32, nullptr, Open};

}  // namespace tandem::index
