// How many bytes CPU tensors take, counted exactly.
#pragma once

#include <cstdint>

namespace tandem::tensor {

// While one is alive, every CPU tensor that libtorch allocates is counted, whatever its size and
// whoever allocates it; tensors that were there before are not, also when they are freed. One at a
// time. Each allocation takes a lock then: for measurements, not for training.
//
//   const AllocationCount count;
//   ... work ...
//   report(count.most());
class AllocationCount {
 public:
  // Puts a counting allocator before the one that libtorch has (tensor/process.h). Tensors that it
  // makes may outlive it.
  AllocationCount();
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  // Puts the allocator back that was there before.
  ~AllocationCount();

  uint64_t now() const;   // bytes of the tensors that are alive
  uint64_t most() const;  // at once, since the start or the last ResetMost
  void ResetMost();       // to now()
};

}  // namespace tandem::tensor
