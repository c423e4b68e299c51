// The operations of ops.h once more, in libtorch's operations and with the gradients of its
// autograd: what the reference loops must equal. Takes any floating type and any width.
#pragma once

#include <ATen/core/Tensor.h>

#include "tensor/device_operations.h"

namespace tandem::tensor {

const DeviceOperations& LibtorchFormulas();

// The formulas on libtorch's tensors, whose gradients libtorch traces.
namespace formulas {

at::Tensor Attention(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const at::Tensor& bias_table, int64_t max_distance,
                     const Dropout& dropout);
// Attention without a rule.
at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout);
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

// 0 or KeepScale of the rate for each row and channel, [rows, width].
at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options);

}  // namespace formulas
}  // namespace tandem::tensor
