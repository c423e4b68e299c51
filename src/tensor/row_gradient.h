// Gradients of tables of which a batch reads few rows, such as word embeddings. They are sparse
// tensors with the rows that were read, so that a step neither clears nor reads the other rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem::tensor {

// The rows of a table's gradient that are not zero.
struct RowGradient {
  at::Tensor rows;    // int64 [n], increasing
  at::Tensor values;  // of the table's type, [n, width], contiguous
};

// The distinct rows in a list of rows of a table, and for each entry of the list its place among
// them.
struct RowIndex {
  at::Tensor rows;               // int64 [n], increasing
  std::vector<int32_t> indices;  // [count], in [0, n)
};
// `rows` are in [0, table_rows).
RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows);

// Throws std::logic_error unless `table` is a leaf, which alone can keep the gradient that an
// operation adds to it.
void ExpectLeaf(const at::Tensor& table, std::string_view operation);

// Adds to table.grad(), or makes it, as a sparse tensor, where it is undefined. `table` is [V,
// width], and everything is on its device.
void AddRowGradient(const at::Tensor& table, const RowGradient& gradient);

// The sum of `values` [n, width] by their rows of `table`, for `rows` int32 or int64 [n] in any
// order and on any device.
RowGradient SumByRow(const at::Tensor& table, const at::Tensor& rows, const at::Tensor& values);

// The rows of a sparse gradient. Rows that it has more than once are added up.
RowGradient RowsOf(const at::Tensor& gradient);

}  // namespace tandem::tensor
