// Bytes of embeddings and answers that requests are about to make. Queues are bounded by tokens, by
// which short texts and wide embeddings would take memory without bound.
#pragma once

#include <cstddef>
#include <mutex>

namespace tandem::serve {

// Any thread.
class WorkMemory {
 public:
  explicit WorkMemory(size_t limit) : limit_(limit) {}

  // Says whether a request that has `own` bytes may have so many more. Few always may, and so may a
  // request that is alone.
  bool Take(size_t bytes, size_t own);
  void Give(size_t bytes);
  size_t bytes() const;

 private:
  const size_t limit_;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
};

}  // namespace tandem::serve
