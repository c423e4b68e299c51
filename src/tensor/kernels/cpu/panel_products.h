// Matrix products of floats by kernels of our own, for processors on which they beat oneDNN's:
// products.cc chooses. As there, a product is one thread's work.
//
// The constant factor B [depth, columns] lies in panels of as many columns as three vectors hold:
// for one k after the other the panel's columns, so that the kernel reads one stream. A panel is
// used by all rows while it is in the nearest caches; in the meantime the next one is fetched.
// Matrices are packed and multiplied under the same Highway targets (see ApplyIsa in isa.h).
#pragma once

#include <cstddef>

namespace tandem::tensor::cpu {

// B(k, n) = source[k * depth_stride + n * column_stride] into `panels` [depth * columns]; columns
// is a multiple of 16. Runs on all OpenMP threads when called outside a parallel region.
void PackPanels(const float* source, size_t depth_stride, size_t column_stride, size_t depth,
                size_t columns, float* panels);

// out [rows, columns] = x [rows, depth] * B + bias [columns] (null: none); strides in floats, depth
// at least 1, columns a multiple of 16.
struct PanelProduct {
  const float* x;
  size_t x_stride;
  size_t depth;
  const float* panels;
  const float* bias;
  float* out;
  size_t out_stride;
  size_t columns;
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
