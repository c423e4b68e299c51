#include "tensor/core/gradients/sparse_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/history.h"
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
  if (internal::FunctionsFor("AddRowGradient", {&table, &gradient.rows, &values}) != nullptr) {
    return;  // reading the rows would wait for the device
  }
  const auto* rows = gradient.rows.data_ptr<int64_t>();
  for (int64_t i = 0; i < gradient.rows.numel(); ++i) {
    if (rows[i] > (i == 0 ? -1 : rows[i - 1]) && rows[i] < table.size(0)) continue;
    throw std::logic_error(fmt::format(
        "AddRowGradient: expected increasing rows of {}, found row {}", table.Text(), rows[i]));
  }
}

// Each row of `sums` becomes the sum of the rows of `values` that stand in its part of `order`.
void SumPlaces(const Tensor& values, const std::vector<int64_t>& order,
               const std::vector<size_t>& starts, const Tensor& sums) {
  const int64_t width = values.size(1);
  internal::ForFloating(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = values.data_ptr<T>();
    T* to = sums.data_ptr<T>();
    internal::ForRows(sums.size(0), width, [&](int64_t first, int64_t past) {
      for (auto k = static_cast<size_t>(first); k < static_cast<size_t>(past); ++k) {
        T* sum = to + static_cast<int64_t>(k) * width;
        std::copy_n(from + order[starts[k]] * width, width, sum);
        for (size_t i = starts[k] + 1; i < starts[k + 1]; ++i) {
          internal::AddElements(from + order[i] * width, width, sum);
        }
      }
    });
  });
}

}  // namespace

void internal::AddRows(const SparseRows& gradient, const Tensor& whole) {
  if (const auto* device = FunctionsFor("AddRows", {&gradient.rows, &gradient.values, &whole})) {
    whole.add_(device->Dense(gradient, whole.sizes()));
    return;
  }
  const auto* rows = gradient.rows.data_ptr<int64_t>();
  const int64_t width = whole.size(1);
  ForFloating(whole.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = gradient.values.data_ptr<T>();
    T* to = whole.data_ptr<T>();
    ForRows(gradient.rows.numel(), width, [=](int64_t first, int64_t past) {
      for (int64_t i = first; i < past; ++i) {
        AddElements(from + i * width, width, to + rows[i] * width);
      }
    });
  });
  whole.bump_version();
}

SparseRows SumByRow(const Tensor& rows, const Tensor& values) {
  CheckPairs("SumByRow", rows, values);
  const NoGradGuard no_gradient;
  if (const auto* device = internal::FunctionsFor("SumByRow", {&rows, &values})) {
    return device->SumByRow(rows, values);
  }
  const Tensor numbers = rows.to(kLong);
  const auto* row = numbers.data_ptr<int64_t>();
  std::vector<int64_t> order(static_cast<size_t>(rows.numel()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [row](int64_t i) { return row[i]; });
  std::vector<size_t> starts;  // in `order`, of the places with one row
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || row[order[i]] != row[order[i - 1]]) starts.push_back(i);
  }
  const auto different = static_cast<int64_t>(starts.size());
  starts.push_back(order.size());
  SparseRows sums{Empty({different}, kLong),
                  Empty(values.sizes().WithRows(different), values.dtype())};
  auto* number = sums.rows.data_ptr<int64_t>();
  for (int64_t i = 0; i < different; ++i) number[i] = row[order[starts[static_cast<size_t>(i)]]];
  SumPlaces(values, order, starts, sums.values);
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
  if (const auto* device = internal::FunctionsFor("Dense", {&gradient.rows, &gradient.values})) {
    return device->Dense(gradient, sizes);
  }
  const Tensor whole = Zeros(sizes, gradient.values.dtype());
  internal::AddRows(gradient, whole);
  return whole;
}

}  // namespace tandem::tensor
