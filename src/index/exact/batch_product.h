// Rows times the queries of a batch, on the encoder's own matrix products.
#pragma once

#include <cstddef>
#include <vector>

#include "tensor/kernels/cpu/products/products.h"

namespace tandem::index {

// The queries are the constant factor, packed once for a search; the rows of an index are read as
// they lie.
class BatchProduct {
 public:
  // Queries [count, width]; rows will have `depth` elements of `type`, zeros after the first
  // `width`.
  BatchProduct(const float* queries, size_t count, size_t width, size_t depth,
               tensor::cpu::Type type);

  size_t columns() const { return static_cast<size_t>(packed_.columns()); }
  // Sets the number that is added to the products of this query.
  void SetOffset(size_t query, float offset) { offsets_[query] = offset; }
  // scores [count, columns()] of rows [count, depth]. One thread's work.
  void Multiply(const void* rows, size_t count, float* scores) const;

 private:
  tensor::cpu::PackedMatrix packed_;
  std::vector<float> offsets_;  // [columns]
};

}  // namespace tandem::index
