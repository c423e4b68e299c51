// The operations of ops.h once more, in libtorch's operations and with the gradients of its
// autograd: what the reference loops must equal. Takes any floating type and any width.
#pragma once

#include "tensor/ops.h"

namespace tandem::tensor::libtorch {

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

at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout);
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

// 0 or KeepScale of the rate for each row and channel, [rows, width].
at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options);

}  // namespace tandem::tensor::libtorch
