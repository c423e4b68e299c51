// Pooling by one kernel each way (elements.cu), without classes of lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include "libtorch/operations/portable_types.h"

namespace tandem::libtorch::kernels {

// Means and sums of rows in float, bf16 or half on a GPU that Serve takes.
bool ServesPool(const at::Tensor& x, portable::Pooling pooling);
// Where ServesPool: [B, H] in float, differentiable.
at::Tensor Pool(const at::Tensor& x, const portable::Tokens& tokens, portable::Pooling pooling);

}  // namespace tandem::libtorch::kernels
