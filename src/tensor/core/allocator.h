// Where tensors get their memory.
#pragma once

#include <cstddef>

namespace tandem::tensor {

// Tensors' memory begins at multiples of this, which is the length of a cache line and of the
// widest vectors.
inline constexpr size_t kAlignment = 64;

// Gives memory and takes it back. Thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // At least `bytes` uninitialised bytes at a multiple of kAlignment; null where there is no
  // memory. `bytes` is above 0.
  virtual void* Allocate(size_t bytes) = 0;
  // Takes back what Allocate returned for so many bytes.
  virtual void Free(void* block, size_t bytes) noexcept = 0;
};

// Memory of the C library.
Allocator& PlainAllocator();

// The allocator of all new tensors: PlainAllocator unless another one was set.
Allocator& CurrentAllocator();

// Sets it and returns the one before. Tensors give their memory back to the allocator that they
// have it from, so that `allocator` must outlive these.
Allocator& SetAllocator(Allocator& allocator);

}  // namespace tandem::tensor
