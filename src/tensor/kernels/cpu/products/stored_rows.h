// Weights as a model folder stores them, and the floats that they are packed from.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/kernels/cpu/products/matrix.h"

namespace tandem::tensor::cpu {

// A matrix [rows, width] without gaps, in memory of any alignment that its type allows.
struct StoredRows {
  const void* data;
  int64_t rows;
  Type type;
};

// Writes a part of W [N, width], the parts one below the other, as floats without gaps: of W the
// columns [begin, end), [N, end - begin]; `by_rows`: the rows [begin, end), [end - begin, width].
struct StoredBlock {
  std::span<const StoredRows> parts;
  int64_t width;
  bool by_rows;
  int64_t begin;
  int64_t end;
};
void CopyToFloat(const StoredBlock& block, float* out);

}  // namespace tandem::tensor::cpu
