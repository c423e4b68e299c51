// The reference implementation of ops.h, in plain tensor operations for any floating type.
#pragma once

#include "tensor/ops.h"

namespace tandem::tensor::reference {

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation);
at::Tensor Affine(const at::Tensor& x, const Linear& linear);
at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout);
at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout);
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

}  // namespace tandem::tensor::reference
