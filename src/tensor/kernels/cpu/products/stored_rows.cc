#include "tensor/kernels/cpu/products/stored_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {
namespace {

void CopyRow(const StoredRows& part, int64_t first, int64_t count, float* out) {
  if (part.type == Type::kFloat) {
    std::memcpy(out, static_cast<const float*>(part.data) + first,
                static_cast<size_t>(count) * sizeof(float));
    return;
  }
  const Bf16* from = static_cast<const Bf16*>(part.data) + first;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = std::bit_cast<float>(static_cast<uint32_t>(from[i].bits) << 16);
  }
}

}  // namespace

void CopyToFloat(const StoredBlock& block, float* out) {
  int64_t first = 0;  // row of the part
  for (const StoredRows& part : block.parts) {
    const int64_t begin = block.by_rows ? std::max(block.begin - first, int64_t{0}) : 0;
    const int64_t end = block.by_rows ? std::min(block.end - first, part.rows) : part.rows;
    const int64_t column = block.by_rows ? 0 : block.begin;
    const int64_t count = block.by_rows ? block.width : block.end - block.begin;
    for (int64_t row = begin; row < end; ++row, out += count) {
      CopyRow(part, row * block.width + column, count, out);
    }
    first += part.rows;
  }
}

}  // namespace tandem::tensor::cpu
