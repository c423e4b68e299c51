// Says how many bytes CPU tensors take, counted exactly.
#pragma once

#include <cstdint>

namespace tandem::tensor {

// While an object of this class is alive, it counts every CPU tensor that libtorch allocates,
// whatever the tensor's size and whoever allocates it. It ignores tensors that were allocated
// before, also when they are freed. Only one object may be alive at a time. Each allocation takes a
// lock meanwhile, so use the count for measurements, not in training.
//
//   const AllocationCount count;
//   ... work ...
//   report(count.most());
class AllocationCount {
 public:
  // Makes libtorch use a counting allocator, which calls the one that was in use before
  // (tensor/machine/process.h). Tensors that it allocates may outlive it.
  AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  // Makes libtorch use the former allocator again.
  ~AllocationCount();

  uint64_t now() const;   // bytes of the tensors that are alive
  uint64_t most() const;  // at once, since the start or the last ResetMost
  void ResetMost();       // to now()
};

}  // namespace tandem::tensor
