// Fused layers of encoders that normalise what a layer reads, on the CPU. Threads, sums and tiles
// are as in layers.h. What a backward pass needs of a normalisation it computes again from the rows
// that were normalised, tile by tile.
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/layers/layer_ends.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/rows/head_rows.h"
#include "tensor/kernels/cpu/rows/norm_rows.h"

namespace tandem::tensor::cpu {

// out = dropout(scale (word + position + type)).
template <typename A>
struct EmbedForward {
  Embedding embedding;  // without position: null
  size_t rows;
  float scale;
  DropoutKeys dropout;
  A* out;  // [rows, H]
};
template <typename A>
void RunEmbedForward(const EmbedForward<A>& args, int threads);

// The gradients are those for a scale of 1: the caller multiplies them.
template <typename A>
struct EmbedBackward {
  Embedding embedding;
  const A* grad_out;  // [rows, H]
  size_t rows;
  DropoutKeys dropout;
  EmbeddingGradient gradient;
  A* grad_sum;  // [rows, H], working memory; read with dropout only
};
template <typename A>
void RunEmbedBackward(const EmbedBackward<A>& args, int threads);

// out = dropout(norm(x)).
template <typename A>
struct NormalizeForward {
  const A* x;  // [rows, H]
  size_t rows;
  size_t width;  // H
  RowNorm norm;
  DropoutKeys dropout;
  A* out;  // [rows, H]
};
template <typename A>
void RunNormalizeForward(const NormalizeForward<A>& args, int threads);

template <typename A>
struct NormalizeBackward {
  const A* x;         // [rows, H]
  const A* grad_out;  // [rows, H]
  size_t rows;
  size_t width;  // H
  RowNorm norm;
  DropoutKeys dropout;
  NormGradient norm_gradient;
  A* grad_x;  // [rows, H]
};
template <typename A>
void RunNormalizeBackward(const NormalizeBackward<A>& args, int threads);

// out = norm(x) W^T + b.
template <typename A>
struct NormAffineForward {
  const A* x;  // [rows, in]
  size_t rows;
  RowNorm norm;
  Affine affine;
  A* out;  // [rows, out]
};
template <typename A>
void RunNormAffineForward(const NormAffineForward<A>& args, int threads);

template <typename A>
struct NormAffineBackward {
  const A* x;             // [rows, in]
  const A* grad_out;      // [rows, out]
  const A* other_grad_x;  // [rows, in]: the gradient that x has from another reader, or null
  size_t rows;
  RowNorm norm;
  AffineGradient gradient;
  NormGradient norm_gradient;
  A* grad_x;  // [rows, in]
};
template <typename A>
void RunNormAffineBackward(const NormAffineBackward<A>& args, int threads);

// end.out = end.residual + dropout(norm(x W^T + b)).
template <typename A>
struct AffineAddForward {
  const A* x;  // [rows, in]
  size_t rows;
  Affine affine;
  LayerEnd<A> end;
};
template <typename A>
void RunAffineAddForward(const AffineAddForward<A>& args, int threads);

// The gradient of the residual is end.grad_out itself.
template <typename A>
struct AffineAddBackward {
  const A* x;  // [rows, in]
  size_t rows;
  AffineGradient gradient;
  LayerEndBackward<A> end;
  A* grad_x;  // [rows, in]
};
template <typename A>
void RunAffineAddBackward(const AffineAddBackward<A>& args, int threads);

// HeadsForward on `threads` threads.
template <typename A>
void RunRotateHeadsForward(const HeadsForward<A>& args, size_t rows, int threads);

// HeadsBackward on `threads` threads.
template <typename A>
void RunRotateHeadsBackward(const HeadsBackward<A>& args, size_t rows, int threads);

}  // namespace tandem::tensor::cpu
