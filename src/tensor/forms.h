// Which form of an operation runs: the fused kernels or the reference implementation.
#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace tandem::tensor {

// Whether the fused kernels take activations like x with rows of these widths: float or bf16 on the
// CPU, widths that are multiples of 16, and UseReferenceOps not in effect.
bool Fusable(const at::Tensor& x, at::ArrayRef<int64_t> widths);

// For an operation that runs in its reference form for another `reason` than that somebody asked
// for it: says so (Note), once for each operation and reason in a process, because it is slow. Says
// nothing for double and for other devices, which have no fused kernels at all.
void SayReferenceForm(const at::Tensor& x, std::string_view operation, std::string_view reason);

// Fusable, and where a width stands in the way, SayReferenceForm.
bool FusableOrSay(const at::Tensor& x, std::string_view operation, at::ArrayRef<int64_t> widths);

}  // namespace tandem::tensor
