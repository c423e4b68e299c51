// Matrix products by oneDNN. The only file that uses oneDNN is onednn_products.cc; the differences
// between oneDNN 2.x and 3.x stay there and in onednn_library.h, by which it includes oneDNN.
//
// A product is one thread's work: inside a parallel region oneDNN uses the calling thread only.
// oneDNN makes a primitive for each shape, and each thread keeps those that it has used.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/kernels/cpu/products/float_factor.h"
#include "tensor/kernels/cpu/products/matrix.h"

namespace tandem::tensor::cpu {

// The constant factor of `x B`, B [depth, columns], in the layout that oneDNN prefers.
class OneDnnMatrix {
 public:
  OneDnnMatrix(int64_t depth, int64_t columns, Type type);
  OneDnnMatrix(OneDnnMatrix&&) noexcept;
  OneDnnMatrix& operator=(OneDnnMatrix&&) noexcept;
  ~OneDnnMatrix();

  // Runs on all OpenMP threads when called outside a parallel region.
  void Pack(const FloatFactor& b);
  // Packs the bf16 values at `source`, for a matrix of that type. The source that the factor itself
  // names is not read.
  void PackBf16(const void* source, const FloatFactor& b);

  struct Storage;
  const Storage& storage() const { return *storage_; }

 private:
  std::unique_ptr<Storage> storage_;
};

// out [rows, columns] = x [rows, depth] * B + bias [columns] (null: none). x has the type of B, out
// is float or has it too.
struct OneDnnProduct {
  ConstMatrix x;
  int64_t rows;
  int64_t depth;
  int64_t columns;
  Type type;
  const OneDnnMatrix& b;
  const float* bias;
  Matrix out;
  Type out_type;
};
void MultiplyByOneDnn(const OneDnnProduct& product);

// These compute what MultiplyTransposed and MultiplyRowsByRows of products.h do. The depth is at
// least 1.
void MultiplyTransposedByOneDnn(const WeightGradient& product);
void MultiplyRowsByRowsByOneDnn(const RowsByRows& product);

}  // namespace tandem::tensor::cpu
