// The fused feed-forward layer of encoders that normalise what a layer reads, plain or gated.
// Threads, sums and tiles are as in layers.h.
#pragma once

#include <cstddef>

#include "tensor/activation.h"
#include "tensor/kernels/cpu/layers/layer_ends.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/rows/norm_rows.h"

namespace tandem::tensor::cpu {

// The operations between the two affine maps: U gives `before`, D takes dropout(inner values).
struct InnerValues {
  Activation activation;
  bool gated;           // `before` has 2F channels, see activation_rows.h; otherwise F
  DropoutKeys dropout;  // of the inner values, [rows, F]
};

// end.out = end.residual + dropout(end.norm(inner D^T + d)), inner computed from norm(x) U^T + u.
template <typename A>
struct FeedForwardAddForward {
  const A* x;  // [rows, H]
  size_t rows;
  RowNorm norm;
  Affine up;    // U, u
  Affine down;  // D, d
  InnerValues inner;
  A* before;  // [rows, F] or [rows, 2F], for the backward pass; null: not wanted
  LayerEnd<A> end;
};
template <typename A>
void RunFeedForwardAddForward(const FeedForwardAddForward<A>& args, int threads);

template <typename A>
struct FeedForwardAddBackward {
  const A* x;  // [rows, H], which is the residual too
  size_t rows;
  RowNorm norm;
  NormGradient norm_gradient;
  AffineGradient up;
  AffineGradient down;
  InnerValues inner;
  const A* before;  // as the forward pass wrote it
  LayerEndBackward<A> end;
  A* grad_x;  // [rows, H]
};
template <typename A>
void RunFeedForwardAddBackward(const FeedForwardAddBackward<A>& args, int threads);

}  // namespace tandem::tensor::cpu
