// Turns tensors into the pointers and types of the CPU kernels.
#pragma once

#include <cstddef>

#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor {

// Says whether the fused kernels take rows of this many channels.
inline bool FitsKernels(int64_t width) {
  return width % 16 == 0 && width <= static_cast<int64_t>(cpu::kMaxWidth);
}

// Calls body with a value of the kernels' type for x: float, or cpu::Bf16 for bf16.
template <typename Body>
void ForType(const Tensor& x, const Body& body) {
  if (x.dtype() == kFloat) {
    body(float{});
  } else {
    body(cpu::Bf16{});
  }
}

// The data pointer of a tensor; null for an undefined tensor.
template <typename A>
A* Data(const Tensor& x) {
  return x.defined() ? static_cast<A*>(x.data_ptr()) : nullptr;
}

inline size_t Rows(const Tensor& x) { return static_cast<size_t>(x.size(0)); }

inline cpu::Type KernelType(const Tensor& x) {
  return x.dtype() == kFloat ? cpu::Type::kFloat : cpu::Type::kBf16;
}

}  // namespace tandem::tensor
