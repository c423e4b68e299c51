// Fused layers of an encoder on the CPU. A thread takes its share of the rows and carries a tile of
// them through all operations of the layer while the tile is in its cache. Gradients of weights are
// products of more rows.
//
// Rows are split over threads in a fixed way. Each thread sums up gradients of weights, and these
// sums are added in the order of the threads: the same thread count gives the same bytes. All
// functions use `threads` OpenMP threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/activation.h"
#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/products/products.h"

namespace tandem::tensor::cpu {

template <typename A>
inline constexpr Type kTypeOf = Type::kFloat;
template <>
inline constexpr Type kTypeOf<Bf16> = Type::kBf16;

// The parameters of a layer normalisation.
struct Norm {
  const float* gamma;  // [H]
  const float* beta;   // [H]
  float epsilon;
};

// Backward passes add to these.
struct NormGradient {
  float* gamma;  // [H]
  float* beta;   // [H]
};

// y = x W^T + b with W [out, in], for a forward pass.
struct Affine {
  const PackedMatrix* weight;  // W^T: depth in, columns out
  const float* bias;           // [out], or null
};

// A map in a backward pass, and the place where its gradients go.
struct AffineGradient {
  const PackedMatrix* weight_transposed;  // W: depth out, columns in
  float* weight;                          // [out, in], overwritten; null: not wanted
  float* bias;                            // [out], added to; null: not wanted
};

// Dropout of rows, which are named by their text and position.
struct DropoutKeys {
  const int64_t* position_keys = nullptr;  // [T]
  Dropout dropout;
};

// The arrays that a normalising layer saves for its backward pass; null if no gradient is wanted.
template <typename A>
struct SavedNorm {
  A* normalized;             // [rows, H]: the rows before gamma and beta
  float* inverse_deviation;  // [rows]
  // [H], or null. Where it is set, `normalized` is the layer's output, which its readers save
  // anyway: the backward pass computes (out - beta) / gamma from it.
  const float* inverse_gamma = nullptr;
};

// out = x W^T + b.
template <typename A>
struct AffineForward {
  const A* x;  // [rows, in]
  size_t rows;
  Affine affine;
  A* out;  // [rows, out]
};
template <typename A>
void RunAffineForward(const AffineForward<A>& args, int threads);

// grad_x = grad_out W, plus the gradient that x has from another reader.
template <typename A>
struct AffineBackward {
  const A* x;             // [rows, in]
  const A* grad_out;      // [rows, out]
  const A* other_grad_x;  // [rows, in], or null
  size_t rows;
  AffineGradient gradient;
  A* grad_x;  // [rows, in]; null: not wanted
};
template <typename A>
void RunAffineBackward(const AffineBackward<A>& args, int threads);

// out = LayerNorm(residual + dropout(x W^T + b)).
template <typename A>
struct AffineNormForward {
  const A* x;         // [rows, in]
  const A* residual;  // [rows, H]
  size_t rows;
  Affine affine;
  Norm norm;
  DropoutKeys dropout;
  A* out;  // [rows, H]
  SavedNorm<A> saved;
};
template <typename A>
void RunAffineNormForward(const AffineNormForward<A>& args, int threads);

template <typename A>
struct AffineNormBackward {
  const A* x;         // [rows, in]
  const A* grad_out;  // [rows, H]
  size_t rows;
  SavedNorm<A> saved;
  Norm norm;
  DropoutKeys dropout;
  AffineGradient gradient;
  NormGradient norm_gradient;
  A* grad_x;         // [rows, in]
  A* grad_residual;  // [rows, H]
};
template <typename A>
void RunAffineNormBackward(const AffineNormBackward<A>& args, int threads);

// out = LayerNorm(x + dropout(activation(x U^T + u) D^T + d)).
template <typename A>
struct FeedForwardForward {
  const A* x;  // [rows, H]
  size_t rows;
  Affine up;    // U, u
  Affine down;  // D, d
  Activation activation;
  Norm norm;
  DropoutKeys dropout;
  A* out;     // [rows, H]
  A* before;  // [rows, F], before the activation, for the backward pass; null: not wanted
  SavedNorm<A> saved;
};
template <typename A>
void RunFeedForwardForward(const FeedForwardForward<A>& args, int threads);

template <typename A>
struct FeedForwardBackward {
  const A* x;         // [rows, H]
  const A* before;    // [rows, F], as the forward pass wrote it
  const A* grad_out;  // [rows, H]
  size_t rows;
  Activation activation;
  SavedNorm<A> saved;
  Norm norm;
  DropoutKeys dropout;
  AffineGradient up;
  AffineGradient down;
  NormGradient norm_gradient;
  A* grad_x;  // [rows, H]
};
template <typename A>
void RunFeedForwardBackward(const FeedForwardBackward<A>& args, int threads);

// The tables of an embedding and the rows of them that are read.
struct Embedding {
  const float* word;         // [V, H]
  const float* position;     // [P, H], or null
  const float* type;         // [types, H], or null
  const int32_t* ids;        // [rows]
  const int32_t* positions;  // [rows]
  size_t width;              // H
  const int32_t* types;      // [rows]: rows of `type`; null: all 0
};

// Backward passes add to these.
struct EmbeddingGradient {
  float* word;               // [n, H]
  const int32_t* word_rows;  // [rows]: which of the n rows a token's gradient goes to
  float* position;           // [P, H]; null: not wanted
  float* type;               // [H], of row 0, which all tokens read; null: not wanted
};

// out = dropout(LayerNorm(word + position + type)).
template <typename A>
struct EmbeddingNormForward {
  Embedding embedding;
  size_t rows;
  Norm norm;
  DropoutKeys dropout;
  A* out;  // [rows, H]
  SavedNorm<A> saved;
};
template <typename A>
void RunEmbeddingNormForward(const EmbeddingNormForward<A>& args, int threads);

template <typename A>
struct EmbeddingNormBackward {
  Embedding embedding;
  const A* grad_out;  // [rows, H]
  size_t rows;
  SavedNorm<A> saved;
  Norm norm;
  DropoutKeys dropout;
  EmbeddingGradient gradient;
  NormGradient norm_gradient;
  A* grad_sum;  // [rows, H], working memory: the gradient of word + position + type
};
template <typename A>
void RunEmbeddingNormBackward(const EmbeddingNormBackward<A>& args, int threads);

}  // namespace tandem::tensor::cpu
