// Gradients of tables of which a batch reads few rows, such as word embeddings. They are the rows
// that were read, so that a step neither clears nor reads the other rows.
#pragma once

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// The rows of a table's gradient that are not zero.
struct SparseRows {
  Tensor rows;    // int64 [n], increasing
  Tensor values;  // of the table's type, [n, width]
};

// The sum of `values` [n, width], of a floating type, by their rows, int64 or int32 [n] in any
// order. Equal rows are added in the order in which they stand. Throws std::logic_error for other
// shapes and types.
SparseRows SumByRow(const Tensor& rows, const Tensor& values);

// Adds to the gradient of a leaf `table` [V, width], for the backward pass of an operation that
// reads the table: to its rows, or to its whole gradient where it has that. Without a gradient
// before, these rows become it. Rows stay increasing, each one once. Throws std::logic_error for a
// tensor that is no leaf, which alone keeps a gradient, and for rows and values that do not fit it;
// the numbers of rows on a device are not looked at, which would wait for it.
void AddRowGradient(const Tensor& table, SparseRows gradient);

// The gradient of a table with these sizes, [V, width], on the device of `gradient`.
Tensor Dense(const SparseRows& gradient, const Shape& sizes);

}  // namespace tandem::tensor
