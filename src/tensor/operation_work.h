// What the operations of ops.h must do at least, for the profile. Nothing where none is active.
#pragma once

#include <ATen/core/Tensor.h>

#include "tensor/linear.h"
#include "tensor/packed_tokens.h"
#include "tensor/passes.h"
#include "tensor/profile.h"

namespace tandem::tensor {

// `arrays` passes over a [rows, width] array of activations of type `activation`.
Work RowsWork(int64_t rows, int64_t width, double arrays, at::ScalarType activation);
// x W^T + b; in the backward pass the gradients of both.
Work AffineWork(const at::Tensor& x, const Linear& linear, Pass pass);
// The same with a residual and a normalisation behind it.
Work AffineNormWork(const at::Tensor& x, const Linear& linear, Pass pass);
Work FeedForwardWork(const at::Tensor& x, const Linear& up, const Linear& down, Pass pass);
// Two products of each text with itself; in the backward pass five, since the probabilities are
// computed again.
Work AttentionWork(const at::Tensor& qkv, const PackedTokens& tokens, Pass pass);

}  // namespace tandem::tensor
