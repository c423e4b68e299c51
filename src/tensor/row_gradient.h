// Gradients of tables of which a batch reads few rows, such as word embeddings. They are sparse
// tensors with the rows that were read, so that a step neither clears nor reads the other rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tandem::tensor {

// The rows of a table's gradient that are not zero.
struct RowGradient {
  at::Tensor rows;    // int64 [n], increasing
  at::Tensor values;  // float32 [n, width], contiguous
};

// The distinct rows in a list of rows of a table, and for each entry of the list its place among
// them.
struct RowIndex {
  at::Tensor rows;               // int64 [n], increasing
  std::vector<int32_t> indices;  // [count], in [0, n)
};
// `rows` are in [0, table_rows).
RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows);

// Adds to table.grad(), or makes it, as a sparse tensor, where it is undefined. `table` is float32
// [V, width].
void AddRowGradient(const at::Tensor& table, const RowGradient& gradient);

// The rows of a sparse gradient. Rows that it has more than once are added up.
RowGradient RowsOf(const at::Tensor& gradient);

}  // namespace tandem::tensor
