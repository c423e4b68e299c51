// The inner values of feed-forward layers as an operation of its own, for layers that are put
// together from several.
#pragma once

#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// dropout(activation(x)), [T, F], for x [T, F]; gated: dropout(activation(the first F columns)
// times the other F), for x [T, 2F]. x is float or bf16 on the CPU, and kernels take F
// (FitsKernels). Differentiable in x.
Tensor InnerValues(const Tensor& x, Activation activation, bool gated, const PackedTokens& tokens,
                   const Dropout& dropout);

}  // namespace tandem::tensor
