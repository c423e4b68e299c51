// Products of matrices of floats and doubles, for functions of tensors on the processor.
#pragma once

#include <cstdint>

namespace tandem::tensor::internal {

// A matrix, or the transpose of one, as it is stored: the element in row r and column c is
// data[r * down + c * right]. One of `down` and `right` is 1.
template <typename T>
struct StoredMatrix {
  const T* data;
  int64_t down, right;

  StoredMatrix Transposed() const { return {data, right, down}; }
  // The part that begins at this row and column.
  StoredMatrix From(int64_t row, int64_t column) const {
    return {data + row * down + column * right, down, right};
  }
};

// The sizes of a product: left [rows, depth] times right [depth, columns].
struct ProductSizes {
  int64_t rows, depth, columns;
};

// out [rows, columns], contiguous, = left right; zeros where the depth is 0. Each element is the
// sum of its products in the order of the depth, by fused multiply-adds where the processor has
// them (not at the level `baseline` of isa.h), whatever the number of threads and the other sizes.
// Runs on Threads() threads. Uses about 2 MB of scratch memory for each thread, and where the
// smaller matrix is the left one and both must be read across, as much memory as `out`.
void Multiply(StoredMatrix<float> left, StoredMatrix<float> right, const ProductSizes& sizes,
              float* out);
void Multiply(StoredMatrix<double> left, StoredMatrix<double> right, const ProductSizes& sizes,
              double* out);

}  // namespace tandem::tensor::internal
