// Says how many bytes CPU tensors take, counted exactly.
#pragma once

#include <cstdint>

namespace tandem::tensor {

// While an object of this class is alive, it counts every tensor in the processor's memory that is
// allocated (core/allocator.h), whatever its size and whoever allocates it. It ignores tensors that
// were allocated before, also when they are freed. Only one object may be alive at a time. Each
// allocation takes a lock meanwhile, so use the count for measurements, not in training.
//
//   const AllocationCount count;
//   ... work ...
//   report(count.most());
class AllocationCount {
 public:
  // Sets a counting allocator, which calls the one that was in use before
  // (tensor/machine/process.h). Tensors that it allocates may outlive it.
  AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  // Sets the former allocator again.
  ~AllocationCount();

  uint64_t now() const;   // bytes of the tensors that are alive
  uint64_t most() const;  // at once, since the start or the last ResetMost
  void ResetMost();       // to now()
};

}  // namespace tandem::tensor
