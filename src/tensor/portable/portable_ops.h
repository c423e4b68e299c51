// The portable implementation of ops.h: tensor operations on whatever device the activations are
// on, without loops over texts on the host; nothing reads a tensor's memory through a pointer.
//
// Activations are double, float, bf16 or half. Products have the activations' type; what is summed,
// normalised or made a probability is computed in float (double for double).
#pragma once

#include "tensor/ops.h"

namespace tandem::tensor::portable {

// The activation of each number, for any shape, differentiable.
at::Tensor Activate(const at::Tensor& x, Activation activation);

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation);
at::Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation);
at::Tensor Affine(const at::Tensor& x, const Linear& linear);
at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout);
at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const PackedTokens& tokens,
                     const Dropout& dropout);
at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear);
at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout);
at::Tensor RotateHeads(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary);

// Scores of about `max_scores` pairs of a query and a key are in memory at a time: the backward
// pass computes them again. 2^25 floats are 128 MiB.
inline constexpr int64_t kMaxScores = int64_t{1} << 25;
at::Tensor Attention(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout,
                     int64_t max_scores = kMaxScores);
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

}  // namespace tandem::tensor::portable
