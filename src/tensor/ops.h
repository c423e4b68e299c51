// The operations that encoders are written in.
//
// Each has three forms (forms.h): fused CPU kernels for float and bf16 activations; a portable one
// for any device, which a back end computes (device_operations.h); and a reference in plain loops,
// text by text and row by row, which the tests compare the others with. An encoder does not know
// which one runs: fused kernels take activations on the CPU whose widths are multiples of 16, the
// portable form those on other devices. On the CPU an operation that no fused kernel takes runs in
// its reference form and says so in a Note, once for each operation and reason.
//
// Rows are tokens of packed texts: T tokens, B texts, H hidden, F inner width, E embedding.
// Activations are float or bf16 (portable: half too; reference and portable: double too);
// parameters are float (reference and portable: double too) and on the device of the activations,
// as the tokens are. Every operation is differentiable in its activations and parameters.
// Operations with a Linear throw std::logic_error where a fused kernel would need a packed copy of
// the weights that Linear::Prepare has not made.
#pragma once

#include <cstdint>

#include "tensor/activation.h"
#include "tensor/attention_rule.h"
#include "tensor/core/tensor.h"
#include "tensor/dropout.h"
#include "tensor/forms.h"
#include "tensor/linear.h"
#include "tensor/packed_tokens.h"
#include "tensor/pooling.h"

namespace tandem::tensor {

struct LayerNorm {
  Tensor gamma;  // [H]
  Tensor beta;   // [H], or undefined: none
  double epsilon = 1e-12;
};

struct EmbeddingTables {
  Tensor word;      // [V, H]
  Tensor position;  // [P, H], or undefined: none
  // [types, H], or undefined: none. Row 0 is used where the tokens have no types.
  Tensor type;
  // A token at position p of its text reads row p + position_offset of the position table.
  int64_t position_offset = 0;
};

// dropout(LayerNorm(word[ids] + position[positions] + type[types])), [T, H] of type `activation`.
// Ids, positions and types must be inside the tables (the model checks them). The backward passes
// of the fused and the portable form add to the word table's gradient themselves, for the rows that
// the batch reads (AddRowGradient in core/sparse_rows.h). So a word table that wants a gradient
// must be a leaf, else std::logic_error.
Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                     const LayerNorm& norm, const Dropout& dropout, DType activation);

// `out` is x W^T + b, [T, N]. `x` is x once more, for its other readers: the backward pass then
// adds the gradients of both uses of x without a pass of its own.
struct AffineResult {
  Tensor out;
  Tensor x;
};
AffineResult Affine(const Tensor& x, const Linear& linear);

// LayerNorm(residual + dropout(x W^T + b)), [T, H].
Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);

// LayerNorm(x + dropout(activation(x U^T + u) D^T + d)), [T, H].
Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);

// A normalisation of rows, for encoders that normalise what a layer reads (Xiong et al. 2020).
struct Norm {
  enum class Kind {
    kLayerNorm,   // (x - mean) / sqrt(variance + epsilon) gamma + beta
    kRms,         // x / sqrt(mean of squares + epsilon) gamma (Zhang and Sennrich 2019)
    kRmsPlusOne,  // as kRms, but with 1 + gamma, as in Gemma
  };
  Kind kind = Kind::kLayerNorm;
  Tensor gamma;  // [H]; undefined: there is no normalisation, rows stay as they are
  Tensor beta;   // [H], or undefined: none
  double epsilon = 1e-5;

  bool defined() const { return gamma.defined(); }
};

// dropout(scale (word[ids] + position[positions] + type[types])), [T, H] of type `activation`.
// Everything else is as in EmbeddingNorm.
Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
             const Dropout& dropout, DType activation);

// dropout(norm(x)), [T, H].
Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                 const Dropout& dropout);

// `out` is norm(x) W^T + b, [T, N]; `x` is x once more, for its other readers, as in Affine.
AffineResult NormAffine(const Tensor& x, const Norm& norm, const Linear& linear);

// residual + dropout(out_norm(x W^T + b)), [T, H]. `out_norm` may be undefined.
Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);

// A feed-forward layer that normalises what it reads.
struct FeedForward {
  Norm norm;  // may be undefined
  // Gated (Shazeer 2020): `up` has 2F outputs, and the inner values are activation(the first F)
  // times the other F. Otherwise F.
  Linear up;
  Linear down;
  Activation activation = Activation::kGelu;
  bool gated = false;
  Norm out_norm;  // of the layer's output, before it is added; may be undefined
};

// x + dropout(out_norm(inner_dropout(inner values of norm(x)) D^T + d)), [T, H].
Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout);

// softmax(q k^T / sqrt(head width)) v within each text, [T, H], from qkv [T, 3H]; dropout on the
// probabilities. H must be a multiple of `heads`.
Tensor SelfAttention(const Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                     const Dropout& dropout);

// Rotary positions (Su et al. 2021): channels c and c + head_width / 2 of a head are turned by the
// angle of their position. Where the tables are undefined, nothing is turned.
struct Rotary {
  Tensor cosines;  // float32 [P, head_width / 2], P above every position
  Tensor sines;
};

// qkv with its query heads and key heads normalised (each head's row by its own; undefined: not)
// and turned, [T, qkv_width]. Values stay as they are. May overwrite the memory of `qkv`, which
// must be the output of Affine or NormAffine and have no other reader.
Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const Norm& query_norm, const Norm& key_norm, const Rotary& rotary);

// A bias that is added to scores by how far the key is after or before the query, one for each head
// (Raffel et al. 2020): half of the buckets for keys after it, half for keys before; in each half a
// bucket for each distance below a quarter of the buckets, then for logarithmic ranges up to
// `max_distance`, then one for all that is beyond.
struct RelativeBias {
  Tensor table;  // [buckets, heads], or undefined: none
  int64_t max_distance = 128;
};

// softmax(scores) v within each text, [T, heads head_width], scores = soft_cap(scale q k^T) + bias,
// over the tokens that the rule lets the query read; dropout on the probabilities. Differentiable
// in qkv and the bias table.
Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                 const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout);

// One row for each text, [B, H], in float (double for double). The tokens of its prompt
// (tokens.prompt_tokens) are left out: the first row is the first one after them, and positions
// still count from the text's beginning. A text that has no token after its prompt gives a row of
// zeros, or with kCls its first row, as in sentence-transformers 6.2; that one gives -inf with
// kMax, of which no score can be made. The first of equal largest numbers gets the gradient.
Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling);

// Rows of x [n, m], float or double, divided by max(their L2 norm, 1e-12), as
// sentence-transformers does.
Tensor NormalizeRows(const Tensor& x);

}  // namespace tandem::tensor
