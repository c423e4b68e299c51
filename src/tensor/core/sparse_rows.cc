#include "tensor/core/sparse_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/history.h"
#include "tensor/core/make.h"

namespace tandem::tensor {
namespace {

void CheckPairs(const char* function, const Tensor& rows, const Tensor& values) {
  const bool fit = rows.dim() == 1 && values.dim() == 2 && values.size(0) == rows.size(0) &&
                   IsFloating(values.dtype());
  if (fit) return;
  throw std::logic_error(
      fmt::format("{}: expected rows [n] and floating values [n, width], found {}"
                  " and {}",
                  function, rows.Text(), values.Text()));
}

void CheckFit(const Tensor& table, const SparseRows& gradient) {
  CheckPairs("AddRowGradient", gradient.rows, gradient.values);
  const Tensor& values = gradient.values;
  if (table.dim() != 2 || values.size(1) != table.size(1) || values.dtype() != table.dtype()) {
    throw std::logic_error(
        fmt::format("AddRowGradient: expected values of the rows of {}, found {}", table.Text(),
                    values.Text()));
  }
  const auto* rows = gradient.rows.data_ptr<int64_t>();
  for (int64_t i = 0; i < gradient.rows.numel(); ++i) {
    if (rows[i] > (i == 0 ? -1 : rows[i - 1]) && rows[i] < table.size(0)) continue;
    throw std::logic_error(fmt::format(
        "AddRowGradient: expected increasing rows of {}, found row {}", table.Text(), rows[i]));
  }
}

}  // namespace

void internal::AddRows(const SparseRows& gradient, const Tensor& whole) {
  const auto* rows = gradient.rows.data_ptr<int64_t>();
  for (int64_t i = 0; i < gradient.rows.numel(); ++i) {
    whole[rows[i]].add_(gradient.values[i]);
  }
}

SparseRows SumByRow(const Tensor& rows, const Tensor& values) {
  CheckPairs("SumByRow", rows, values);
  const NoGradGuard no_gradient;
  const Tensor numbers = rows.to(kLong);
  const auto* row = numbers.data_ptr<int64_t>();
  std::vector<int64_t> order(static_cast<size_t>(rows.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [row](int64_t i) { return row[i]; });
  int64_t different = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || row[order[i]] != row[order[i - 1]]) ++different;
  }
  SparseRows sums{Empty({different}, kLong),
                  Empty(values.sizes().WithRows(different), values.dtype())};
  int64_t at = -1;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && row[order[i]] == row[order[i - 1]]) {
      sums.values[at].add_(values[order[i]]);
      continue;
    }
    sums.rows.data_ptr<int64_t>()[++at] = row[order[i]];
    sums.values[at].copy_(values[order[i]]);
  }
  return sums;
}

void AddRowGradient(const Tensor& table, SparseRows gradient) {
  if (!table.is_leaf()) {
    throw std::logic_error(
        fmt::format("AddRowGradient: expected a leaf, which alone keeps a gradient, found an "
                    "operation's output {}",
                    table.Text()));
  }
  CheckFit(table, gradient);
  const NoGradGuard no_gradient;
  internal::History& history = internal::HistoryOf(table);
  const std::lock_guard lock(history.mutex);
  if (history.grad.defined()) {
    internal::AddRows(gradient, history.grad);
  } else if (!history.rows) {
    history.rows = std::move(gradient);
  } else {
    // Both are increasing and stand in the order of arrival, so that a row's sum is old + new.
    history.rows = SumByRow(Cat({history.rows->rows, gradient.rows}),
                            Cat({history.rows->values, gradient.values}));
  }
}

Tensor Dense(const SparseRows& gradient, const Shape& sizes) {
  const NoGradGuard no_gradient;
  const Tensor whole = Zeros(sizes, gradient.values.dtype());
  internal::AddRows(gradient, whole);
  return whole;
}

}  // namespace tandem::tensor
