// The least work that the operations of ops.h need, for the profile. The functions return no work
// where no profile is active.
#pragma once

#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/attention/attention_mask.h"
#include "tensor/linear.h"
#include "tensor/ops.h"
#include "tensor/packed_tokens.h"
#include "tensor/passes.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {

// Reading or writing `arrays` arrays [rows, width] of type `activation`.
Work RowsWork(int64_t rows, int64_t width, double arrays, DType activation);
// x W^T + b; in the backward pass the gradients of both.
Work AffineWork(const Tensor& x, const Linear& linear, Pass pass);
// AffineWork with a residual connection and a normalisation.
Work AffineNormWork(const Tensor& x, const Linear& linear, Pass pass);
Work FeedForwardWork(const Tensor& x, const Linear& up, const Linear& down, Pass pass);
// AffineWork with a residual that is added, whose gradient is that of the output.
Work AffineAddWork(const Tensor& x, const Linear& linear, Pass pass);
// `up` may have two inner widths.
Work FeedForwardAddWork(const Tensor& x, const Linear& up, const Linear& down, Pass pass);
// Two products over all pairs of a query and a key that the rule lets it read. The backward pass
// has five, because it computes the probabilities again.
Work AttentionWork(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const AttentionRule& rule, Pass pass);
// The pairs as ranges.
cpu::AttentionMask MaskOf(const AttentionRule& rule);

}  // namespace tandem::tensor
