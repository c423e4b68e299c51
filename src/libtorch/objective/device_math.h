// The code that device forms share: loops over parts of a batch, and arithmetic of formulas on
// tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libtorch/objective/batch_form.h"

namespace tandem::libtorch {

// Calls body(begin, count) for consecutive parts of [0, total), where one item takes `width` cells
// of a temporary.
template <typename Body>
void ForEachPart(const DeviceBatch& batch, int64_t total, int64_t width, const Body& body) {
  const int64_t most = std::max<int64_t>(1, batch.cells_at_a_time / std::max<int64_t>(1, width));
  for (int64_t begin = 0; begin < total; begin += most) {
    body(begin, std::min(most, total - begin));
  }
}

// log(1 + e^x) and its slope, as SoftplusOf (softplus.h).
struct SoftplusTensors {
  at::Tensor value;
  at::Tensor slope;
};
SoftplusTensors SoftplusOf(const at::Tensor& x);

// x where the mask allows it, else 0, whatever x is there.
at::Tensor Allowed(const at::Tensor& x, const at::Tensor& mask);

// A column, so that each number meets a row of a matrix.
inline at::Tensor Column(const at::Tensor& numbers) { return numbers.unsqueeze(1); }

// The numbers of a float64 vector, copied to the host.
std::vector<double> ToVector(const at::Tensor& numbers);

// Adds values [L] to the cells [L] of a contiguous matrix. No cell may come twice: then the sums do
// not depend on an order.
void AddToCells(const at::Tensor& matrix, const at::Tensor& cells, const at::Tensor& values);

}  // namespace tandem::libtorch
