// Matrix products of bf16 values on AMX, faster than oneDNN's at an encoder's shapes. products.cc
// chooses between them. A product is one thread's work.
//
// The constant factor B [depth, columns] is stored in panels of 32 columns. A panel has two tiles
// for every 32 rows of B, one after the other: 16 rows of 16 words, each of two values that are
// neighbours in a column. Needs AMX-BF16 and Linux's permission to use it (isa.h).
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/bf16.h"
#include "tensor/kernels/cpu/products/float_factor.h"

namespace tandem::tensor::cpu {

// Depth and columns must be multiples of this.
inline constexpr size_t kTiledUnit = 32;

// Packs B, rounded to nearest, into `tiles` [depth * columns]. Runs on all OpenMP threads when
// called outside a parallel region.
void PackTiles(const FloatFactor& b, Bf16* tiles);

// x [rows, depth] * B + bias [columns] (null: none); x_stride in elements, an even number. Sums are
// floats. The processor reads bf16 values below 2^-126 as 0. Results in bf16 are rounded to
// nearest.
struct TiledProduct {
  const Bf16* x;
  size_t x_stride;
  size_t depth;
  const Bf16* tiles;
  const float* bias;
  size_t columns;
};

// Results of a product. What is computed from it runs while the next block of it is multiplied.
struct FloatResult {
  float* out;
  size_t stride;
  bool add = false;  // to `out`; the product then has no bias
};
struct Bf16Result {
  Bf16* out;
  size_t stride;
  bool add = false;
};
// All arrays are [rows, columns] without gaps.
struct GeluResult {
  Bf16* before;     // receives the product; null: not wanted
  Bf16* activated;  // receives its GELU
};
// The product is the gradient of gelu(before).
struct GeluGradientResult {
  const Bf16* before;
  Bf16* grad;          // receives the gradient of `before`
  Bf16* activated;     // receives gelu(before)
  float* column_sums;  // [columns]: sums of unrounded `grad` over rows are added to it; or null
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
