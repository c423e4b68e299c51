// One arena for large tensors, whose pages stay from step to step. The C library maps every block
// above 32 MiB anew and unmaps it when it is freed, and each first touch of a page is then a fault:
// 9 % of the processor's time in fp32 steps of all-MiniLM-L6-v2 on 64 pairs of paragraphs (Zen 4).
// Pages are huge ones where Linux allows that: 3 % of a bf16 step on AMX.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tandem::tensor {

// A range of addresses from which blocks are taken and to which they go back. A block lies at the
// lowest place that holds it: a forward pass fills the range upwards, the backward pass empties it
// downwards, and the pages in use are about as many as the most that was needed at once. They stay
// until Trim. Thread-safe.
class PageArena {
 public:
  // Reserves addresses; memory is asked for as blocks reach higher. Throws std::bad_alloc.
  explicit PageArena(size_t capacity);
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena();

  // `bytes` bytes at the start of a page, of any content; null when there is no room, or when the
  // system gives no more memory.
  void* Take(size_t bytes);
  // Takes back a block of Take.
  void Give(void* block) noexcept;
  // Gives the pages between blocks back to the system.
  void Trim() noexcept;

  // Whether an address is one of the arena's.
  bool Holds(const void* address) const {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= base_ && byte < base_ + capacity_;
  }

  struct Usage {
    size_t used = 0;       // bytes, whole pages
    size_t most_used = 0;  // at once
    size_t reached = 0;    // end of the highest block there ever was
  };
  Usage usage() const;

 private:
  bool MakeUsable(size_t end);

  std::byte* base_;
  size_t capacity_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> free_;   // offset -> size; no two touch each other
  std::map<size_t, size_t> taken_;  // offset -> size
  size_t usable_ = 0;               // may be read and written up to here
  Usage usage_;
};

// For the whole process, from now on, CPU tensors of 256 KiB and more live in one such arena with
// room for the memory that this process may use; what does not fit goes to the system's allocator,
// and so does everything where addresses are limited (ulimit -v, -d), which the arena would use up.
// Does nothing under AddressSanitizer, which would not see what runs over a block's end. Only
// programs call it (SetUpProcess in process.h); the libraries work with any allocator.
void UseTensorArena();

// Gives back the pages that tensors no longer need: after training, after encoding. Does nothing
// where UseTensorArena was not called.
void TrimTensorArena();

}  // namespace tandem::tensor
