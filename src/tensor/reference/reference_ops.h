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
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout);
at::Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation);
at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const PackedTokens& tokens,
                     const Dropout& dropout);
at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear);
at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout);
at::Tensor RotateHeads(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary);
at::Tensor Attention(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout);

// Shared by the files of the reference implementation.

// 0 or KeepScale of the rate for each row and channel, [rows, width]. The fused kernels compute the
// same mask, without storing it.
at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options);
// x [T, width] with dropout.
at::Tensor DropRows(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor Activate(const at::Tensor& x, Activation activation);
at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables);
at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout);
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

// scale (x A_i^T) B_i^T beside each other for the parts of a map with an adapter, [T, N]; 0 for
// parts without one.
at::Tensor LowRankProduct(const at::Tensor& x, const Linear& linear);

// Says where the rows of each text that are pooled begin and end, int64 [B] each.
struct PooledRows {
  at::Tensor starts;  // of the texts
  at::Tensor first;
  at::Tensor next;

  explicit PooledRows(const PackedTokens& tokens);
  at::Tensor counts() const;
};

// The first (kCls) or the last row that is pooled; where none is, the text's first row or zeros.
at::Tensor RowPool(const at::Tensor& x, const PooledRows& rows, Pooling pooling);

}  // namespace tandem::tensor::reference
