#include "tensor/row_gradient.h"

#include <fmt/format.h>

#include <stdexcept>

#include "tensor/core/make.h"

namespace tandem::tensor {

RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows) {
  constexpr int32_t kAbsent = -1, kPresent = 0;
  std::vector<int32_t> index_of(static_cast<size_t>(table_rows), kAbsent);
  for (int64_t i = 0; i < count; ++i) index_of[rows[i]] = kPresent;
  int32_t different = 0;
  for (int32_t& index : index_of) {
    if (index == kPresent) index = different++;
  }
  RowIndex result{Empty({different}, kLong), {}};
  auto* to = result.rows.data_ptr<int64_t>();
  for (int64_t row = 0; row < table_rows; ++row) {
    if (index_of[row] != kAbsent) *to++ = row;
  }
  result.indices.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result.indices.push_back(index_of[rows[i]]);
  return result;
}

void ExpectLeaf(const Tensor& table, std::string_view operation) {
  if (table.is_leaf()) return;
  throw std::logic_error(
      fmt::format("{}: a word table that wants a gradient must be a leaf", operation));
}

}  // namespace tandem::tensor
