// An arena for large tensors that keeps its pages from step to step. The C library maps every block
// above 32 MiB anew and unmaps it when it is freed, so that each first touch of a page is a fault.
// Faults took 9 % of the processor's time in fp32 steps of all-MiniLM-L6-v2 on 64 pairs of
// paragraphs (Zen 4). The arena uses huge pages where Linux allows them, which saved 3 % of a bf16
// step on AMX.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace tandem::tensor {

// Allocates blocks in a range of addresses, each at the lowest place where it fits. A forward pass
// fills the range upwards and the backward pass empties it downwards, so that it uses about as many
// pages as were needed at once. The arena keeps them until Trim. Thread-safe.
class PageArena {
 public:
  // Reserves addresses; asks the system for memory as blocks reach higher. Throws std::bad_alloc.
  explicit PageArena(size_t capacity);
  PageArena(const PageArena&) = delete;
  PageArena& operator=(const PageArena&) = delete;
  ~PageArena();

  // An uninitialised block at the start of a page; null where no gap is large enough, or where the
  // system gives no more memory.
  void* Allocate(size_t bytes);
  void Free(void* block) noexcept;
  // Returns the pages between blocks to the system.
  void Trim() noexcept;

  // Says whether an address belongs to the arena.
  bool Contains(const void* address) const {
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
  std::map<size_t, size_t> gaps_;    // offset -> size; neighbouring gaps are joined
  std::map<size_t, size_t> blocks_;  // offset -> size
  size_t usable_ = 0;                // bytes from base_ on that may be read and written
  Usage usage_;
};

// After this call tensors in the processor's memory of 256 KiB and more of this process are
// allocated in an arena that is as large as the memory that the process may use. Tensors that do
// not fit go to the system's allocator. So do all where addresses are limited (ulimit -v, -d),
// because the arena would use these up. Does nothing under AddressSanitizer, which would not see
// overruns within the arena. Only programs call it (SetUpProcess in process.h); the libraries work
// with any allocator.
void UseTensorArena();

// Returns the pages that no tensor uses to the system, after training and after encoding. Does
// nothing where UseTensorArena was not called.
void TrimTensorArena();

}  // namespace tandem::tensor
