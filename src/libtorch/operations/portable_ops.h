// The portable forms of the operations of tensor/ops.h: libtorch's operations on whatever device
// the activations are on, without loops over texts on the host; nothing reads a tensor's memory
// through a pointer.
//
// Activations are double, float, bf16 or half. Products have the activations' type; what is summed,
// normalised or made a probability is computed in float (double for double). Everything is
// differentiable by libtorch's graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "libtorch/operations/portable_types.h"

namespace tandem::libtorch::portable {

// The activation of each number, for any shape, differentiable.
at::Tensor Activate(const at::Tensor& x, Activation activation);

// `words` are the word table's rows of the tokens, [T, H].
at::Tensor EmbeddingNorm(const at::Tensor& words, const Tokens& tokens, const Tables& tables,
                         const Norm& norm, const Dropout& dropout, at::ScalarType activation);
at::Tensor Embed(const at::Tensor& words, const Tokens& tokens, const Tables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation);
at::Tensor Affine(const at::Tensor& x, const Linear& linear);
at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const Norm& norm, const Tokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const Norm& norm, const Tokens& tokens,
                           const Dropout& dropout);
at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const Tokens& tokens,
                     const Dropout& dropout);
at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear);
at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const Tokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const Tokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout);
at::Tensor RotateHeads(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary);

// The work of a backward pass with this gradient of the output, for the profile.
using AttentionWork = std::function<tensor::Work(const at::Tensor& grad)>;
// Scores of about `max_scores` pairs of a query and a key are in memory at a time: the backward
// pass computes them again. 2^25 floats are 128 MiB. `tokens` have classes; `backward_work` may be
// empty.
inline constexpr int64_t kMaxScores = int64_t{1} << 25;
at::Tensor Attention(const at::Tensor& qkv, const Tokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout,
                     const AttentionWork& backward_work = {}, int64_t max_scores = kMaxScores);
// `tokens` have classes, where more than one row of a text counts.
at::Tensor Pool(const at::Tensor& x, const Tokens& tokens, Pooling pooling);
at::Tensor NormalizeRows(const at::Tensor& x);

}  // namespace tandem::libtorch::portable
