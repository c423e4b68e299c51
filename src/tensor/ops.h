// The operations that encoders are written in.
//
// Each has two implementations: a reference in plain tensor operations, for any floating type and
// device, which the tests compare with; and a fused CPU kernel for float and bf16 activations. An
// encoder does not know which one runs: fused kernels take activations on the CPU whose widths are
// multiples of 16, unless UseReferenceOps is in effect.
//
// Rows are tokens of packed texts: T tokens, B texts, H hidden, F inner width, E embedding.
// Activations are float or bf16 (reference: double too); parameters are float (reference: double
// too). Every operation is differentiable in its activations and parameters. Operations with a
// Linear throw std::logic_error where a fused kernel would need a packed copy of the weights that
// Linear::Prepare has not made.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/linear.h"
#include "tensor/packed_tokens.h"

namespace tandem::tensor {

// While an object of this class is alive, operations that its thread calls use the reference
// implementation.
class UseReferenceOps {
 public:
  UseReferenceOps();
  UseReferenceOps(const UseReferenceOps&) = delete;
  UseReferenceOps& operator=(const UseReferenceOps&) = delete;
  ~UseReferenceOps();
  static bool Active();  // on this thread
};

struct LayerNorm {
  at::Tensor gamma;  // [H]
  at::Tensor beta;   // [H]
  double epsilon = 1e-12;
};

struct EmbeddingTables {
  at::Tensor word;      // [V, H]
  at::Tensor position;  // [P, H]
  at::Tensor type;      // [types, H]; row 0 is used
};

// dropout(LayerNorm(word[ids] + position[positions] + type[0])), [T, H] of type `activation`.
// Ids and positions must be inside the tables (the model checks them). The backward pass of the
// fused kernel adds to word.grad() itself, for the rows that the batch reads (row_gradient.h). So a
// word table that wants a gradient must be a leaf, else std::logic_error.
at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation);

// `out` is x W^T + b, [T, N]. `x` is x once more, for its other readers: the backward pass then
// adds the gradients of both uses of x without a pass of its own.
struct AffineResult {
  at::Tensor out;
  at::Tensor x;
};
AffineResult Affine(const at::Tensor& x, const Linear& linear);

// LayerNorm(residual + dropout(x W^T + b)), [T, H].
at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);

// LayerNorm(x + dropout(gelu(x U^T + u) D^T + d)), [T, H], with the exact GELU.
at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout);

// softmax(q k^T / sqrt(head width)) v within each text, [T, H], from qkv [T, 3H]; dropout on the
// probabilities. H must be a multiple of `heads`.
at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout);

enum class Pooling { kMean, kCls, kLastToken };

// One row for each text, [B, H], in float (double for double): the mean of the text's rows, or its
// first or last row.
at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling);

// Rows divided by max(their L2 norm, 1e-12), as sentence-transformers does.
at::Tensor NormalizeRows(const at::Tensor& x);

}  // namespace tandem::tensor
