// One arena for large tensors, whose pages stay from step to step. The system's allocator maps
// every block above 32 MiB anew and unmaps it when it is freed, and each first touch of a page is
// then a fault: a tenth of the time of an fp32 step.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tandem::tensor {

// A range of addresses from which blocks are taken and to which they go back. A block lies at the
// lowest place that holds it: a forward pass fills the range upwards, the backward pass empties it
// downwards, and the pages in use are about as many as the most that was needed at once. Pages are
// never given back to the system before the arena goes. Thread-safe.
class Arena {
 public:
  // Reserves addresses, no memory. Throws std::bad_alloc.
  explicit Arena(size_t capacity);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // `bytes` bytes at the start of a page, of any content; null when there is no room.
  void* Take(size_t bytes);
  // Takes back a block of Take(bytes), with the same number.
  void Give(void* block, size_t bytes) noexcept;

  struct Usage {
    size_t used = 0;       // bytes, whole pages
    size_t most_used = 0;  // at once
    size_t reached = 0;    // end of the highest block there ever was: the memory that is held
  };
  Usage usage() const;

 private:
  std::byte* base_;
  size_t capacity_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> free_;  // offset -> size; no two touch each other
  Usage usage_;
};

// From now on, CPU tensors of a MiB and more live in one such arena with room for the machine's
// memory; what does not fit goes to the system's allocator. Does nothing under AddressSanitizer,
// which would not see what runs over a block's end.
void UseTensorArena();

}  // namespace tandem::tensor
