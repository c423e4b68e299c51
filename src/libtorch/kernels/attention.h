// Attention over packed texts by kernels (attention.cuh), without padding and classes of lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include "libtorch/operations/portable_ops.h"
#include "libtorch/operations/portable_types.h"

namespace tandem::libtorch::kernels {

// Activations in bf16 or half on a GPU that Serve takes, heads whose width is a multiple of 16 up
// to 128, and a rule without a cap of scores; no bias.
bool ServesAttention(const at::Tensor& qkv, const portable::HeadShape& shape,
                     const portable::AttentionRule& rule, const portable::RelativeBias& bias);
// Where ServesAttention: what portable::Attention computes. The probabilities are rounded before
// they are divided by their sum.
at::Tensor Attention(const at::Tensor& qkv, const portable::Tokens& tokens,
                     const portable::HeadShape& shape, const portable::AttentionRule& rule,
                     const portable::Dropout& dropout,
                     const portable::AttentionWork& backward_work = {});

}  // namespace tandem::libtorch::kernels
