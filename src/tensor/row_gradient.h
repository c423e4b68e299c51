// Gradients of tables of which a batch reads few rows, such as a vocabulary's: a sparse tensor of
// libtorch's with the rows that were read, so that a step neither clears nor reads the others.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tandem::tensor {

// Rows of a table's gradient; the others are zero.
struct RowGradient {
  at::Tensor rows;    // int64 [n], increasing
  at::Tensor values;  // float32 [n, width], contiguous
};

// The different ones of some rows of a table, and where each of them is among these.
struct RowIndex {
  at::Tensor rows;               // int64 [n], increasing
  std::vector<int32_t> indices;  // [count], in [0, n)
};
// `rows` are in [0, table_rows).
RowIndex IndexRows(const int32_t* rows, int64_t count, int64_t table_rows);

// Adds to table.grad(), which becomes sparse where there is none yet; `table` is float32
// [V, width].
void AddRowGradient(const at::Tensor& table, const RowGradient& gradient);

// The rows of a sparse gradient, added up where it has one twice.
RowGradient RowsOf(const at::Tensor& gradient);

}  // namespace tandem::tensor
