// Gradients of tables that are some rows, for tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/tensors.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {

// The rows of a whole gradient that have a number other than 0.
inline tensor::SparseRows RowsThatAreNotZero(const tensor::Tensor& whole) {
  std::vector<double> rows;
  for (int64_t row = 0; row < whole.size(0); ++row) {
    if (LargestOf(whole[row]) != 0) rows.push_back(static_cast<double>(row));
  }
  const tensor::Tensor numbers =
      tensor::MovedTo(MakeTensor({std::ssize(rows)}, rows, tensor::kLong), whole.device());
  return {numbers, tensor::TakeRows(whole, numbers)};
}

// Makes these rows the gradient of a leaf; copies them.
inline void GiveRows(const tensor::Tensor& leaf, const tensor::SparseRows& gradient) {
  leaf.set_grad(tensor::Tensor());
  tensor::AddRowGradient(leaf, {gradient.rows.clone(), gradient.values.clone()});
}

// Says whether each element of `a` is within relative |b| + absolute of that of `b`.
inline bool AreClose(const tensor::Tensor& a, const tensor::Tensor& b, double relative,
                     double absolute) {
  if (a.sizes() != b.sizes()) return false;
  const std::vector<double> got = tandem::ElementsOf(a), want = tandem::ElementsOf(b);
  for (size_t i = 0; i < want.size(); ++i) {
    if (!(std::fabs(got[i] - want[i]) <= relative * std::fabs(want[i]) + absolute)) return false;
  }
  return true;
}

}  // namespace tandem::optim
