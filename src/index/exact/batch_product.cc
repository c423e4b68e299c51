#include "index/exact/batch_product.h"

#include <algorithm>
#include <cstdint>

namespace tandem::index {
namespace {

// Returns the number of columns, rounded up to a multiple that the fastest products need.
size_t ColumnsFor(size_t count, tensor::cpu::Type type) {
  const size_t unit = type == tensor::cpu::Type::kFloat ? 16 : 32;
  return (count + unit - 1) / unit * unit;
}

}  // namespace

BatchProduct::BatchProduct(const float* queries, size_t count, size_t width, size_t depth,
                           tensor::cpu::Type type)
    : packed_(static_cast<int64_t>(depth), static_cast<int64_t>(ColumnsFor(count, type)), type),
      offsets_(ColumnsFor(count, type)) {
  std::vector<float> padded(offsets_.size() * depth);
  for (size_t q = 0; q < count; ++q) {
    std::copy_n(queries + q * width, width, padded.data() + q * depth);
  }
  packed_.Pack(padded.data(), 1, static_cast<int64_t>(depth));
}

void BatchProduct::Multiply(const void* rows, size_t count, float* scores) const {
  tensor::cpu::MultiplyPacked({.x = {rows, packed_.depth()},
                               .rows = static_cast<int64_t>(count),
                               .b = packed_,
                               .bias = offsets_.data(),
                               .out = {scores, packed_.columns()},
                               .out_type = tensor::cpu::Type::kFloat});
}

}  // namespace tandem::index
