#include "serve/queues/work_memory.h"

namespace tandem::serve {
namespace {

// The bytes that requests with a few texts take; the number of connections bounds these.
constexpr size_t kFewBytes = size_t{256} << 10;

}  // namespace

bool WorkMemory::Take(size_t bytes, size_t own) {
  const std::lock_guard lock(mutex_);
  const bool few = own + bytes <= kFewBytes;
  const bool alone = bytes_ == own;
  if (!few && !alone && bytes_ + bytes > limit_) return false;
  bytes_ += bytes;
  return true;
}

void WorkMemory::Give(size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
}

size_t WorkMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace tandem::serve
