// The reference implementation of ops.h, in plain loops for any floating type. The formulas,
// forward and backward, are in the `*_loops.h` of this folder, which know nothing of tensors.
#pragma once

#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::tensor::reference {

Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                     const LayerNorm& norm, const Dropout& dropout, DType activation);
Tensor Affine(const Tensor& x, const Linear& linear);
Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
             const Dropout& dropout, DType activation);
Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                 const Dropout& dropout);
Tensor NormAffine(const Tensor& x, const Norm& norm, const Linear& linear);
Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);
Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout);
Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const Norm& query_norm, const Norm& key_norm, const Rotary& rotary);
Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                 const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout);
Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling);

}  // namespace tandem::tensor::reference
