// Matrix products of floats with AVX2, AVX-512 or NEON; with the former two they are faster than
// oneDNN's. products.cc chooses between them. A product is one thread's work.
//
// The constant factor B [depth, columns] is stored in panels of as many columns as three vectors
// hold: row after row of the panel, so that the kernel reads one stream. All rows of x are
// multiplied by a panel while it is in the nearest caches, and the next panel is prefetched
// meanwhile. The width of a panel depends on the Highway target, which must be the same for packing
// and multiplying (see ApplyIsa in isa.h).
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/products/float_factor.h"

namespace tandem::tensor::cpu {

// Packs B into `panels` [depth * columns]; columns is a multiple of 16. Runs on all OpenMP threads
// when called outside a parallel region.
void PackPanels(const FloatFactor& b, float* panels);

// out [rows, columns] = x [rows, depth] * B + bias [columns] (null: none), or, `add`, out += x B;
// strides in floats, depth at least 1, columns a multiple of 16.
struct PanelProduct {
  const float* x;
  size_t x_stride;
  size_t depth;
  const float* panels;
  const float* bias;
  float* out;
  size_t out_stride;
  size_t columns;
  bool add = false;
};
void MultiplyPanels(const PanelProduct& product, size_t rows);

// sum [m, n], contiguous, = or (`add`) += a^T b for a [depth, m], b [depth, n], depth at least 1; n
// is a multiple of 16.
struct TransposedProduct {
  const float* a;
  size_t a_stride;
  const float* b;
  size_t b_stride;
  size_t depth;
  float* sum;
  size_t m;
  size_t n;
  bool add;
};
void MultiplyTransposedPanels(const TransposedProduct& product);

}  // namespace tandem::tensor::cpu
