// What the backward pass of embeddings needs for a table's gradient as rows
// (core/gradients/sparse_rows.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {

// The distinct rows in a list of rows of a table, and for each entry of the list its place among
// them.
struct RowIndex {
  Tensor rows;                   // int64 [n], increasing
  std::vector<int32_t> indices;  // [count], in [0, n)
};
// `rows` are in [0, table_rows).
RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows);

// Throws std::logic_error unless `table` is a leaf, which alone can keep the gradient that an
// operation adds to it.
void ExpectLeaf(const Tensor& table, std::string_view operation);

}  // namespace tandem::tensor
