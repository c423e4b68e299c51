// Matrix products of bf16 values by kernels of our own on AMX tiles, faster than oneDNN's at
// an encoder's shapes: products.cc chooses. As there, a product is one thread's work.
//
// The constant factor B [depth, columns] lies in panels of 32 columns. A panel has two tiles for
// every 32 rows of B, one after the other: words of two values that follow each other in a column,
// 16 rows of 16 words. Needs a processor with AMX-BF16 and Linux's permission to use it (isa.h).
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {

// What depth and columns must be multiples of.
inline constexpr size_t kTiledUnit = 32;

// B(k, n) = source[k * depth_stride + n * column_stride], rounded to nearest, into `tiles`
// [depth * columns]. One of the strides must be 1. Runs on all OpenMP threads when called outside a
// parallel region.
void PackTiles(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
               size_t columns, Bf16* tiles);

// x [rows, depth] * B + bias [columns] (null: none); x_stride in elements, an even number. Sums are
// floats; numbers below 2^-126 count as 0. Results that are bf16 are rounded to nearest.
struct TiledProduct {
  const Bf16* x;
  size_t x_stride;
  size_t depth;
  const Bf16* tiles;
  const float* bias;
  size_t columns;
};

// What becomes of a product, and what is computed from it while the next part of it is multiplied.
struct FloatResult {
  float* out;
  size_t stride;
};
struct Bf16Result {
  Bf16* out;
  size_t stride;
};
// Rows of `columns` elements that follow each other, as below.
struct GeluResult {
  Bf16* before;  // the product; null: not kept
  Bf16* activated;
};
struct GeluGradientResult {
  const Bf16* before;  // what GELU was taken of
  Bf16* grad;          // of `before`, where the product is the gradient of gelu(before)
  Bf16* activated;     // gelu(before)
  float* column_sums;  // [columns], gain the sums over rows of `grad` before it is rounded, or null
};
void MultiplyTiled(const TiledProduct& product, size_t rows, const FloatResult& result);
void MultiplyTiled(const TiledProduct& product, size_t rows, const Bf16Result& result);
void MultiplyTiled(const TiledProduct& product, size_t rows, const GeluResult& result);
void MultiplyTiled(const TiledProduct& product, size_t rows, const GeluGradientResult& result);

// sum [m, n], contiguous, = or (`add`) += a^T b for a [depth, m], b [depth, n]; m and n are
// multiples of 32, the depth is any from 1 on.
struct TiledTransposedProduct {
  const Bf16* a;
  size_t a_stride;
  const Bf16* b;
  size_t b_stride;
  size_t depth;
  float* sum;
  size_t m;
  size_t n;
  bool add;
};
void MultiplyTransposedTiled(const TiledTransposedProduct& product);

}  // namespace tandem::tensor::cpu
