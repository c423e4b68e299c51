// TakeRows, ClearRows and AddToRows.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {

using internal::FunctionsFor;

namespace {

void Require(bool holds, const char* function, const char* expected, const Tensor& found) {
  if (holds) return;
  throw std::logic_error(
      fmt::format("{}: expected {}, found {}", function, expected, found.Text()));
}

size_t RowBytes(const Tensor& x) {
  return static_cast<size_t>(x.sizes().row_elements()) * ElementSize(x.dtype());
}

// Numbers of rows, inside x.
std::vector<int64_t> RowNumbers(const Tensor& x, const Tensor& rows) {
  const Tensor numbers = rows.to(kLong);
  const auto* number = numbers.data_ptr<int64_t>();
  std::vector<int64_t> all(number, number + rows.numel());
  for (const int64_t row : all) {
    if (row >= 0 && row < x.size(0)) continue;
    throw std::logic_error(fmt::format("TakeRows: {} has no row {}", x.Text(), row));
  }
  return all;
}

Tensor Taken(const Tensor& x, const std::vector<int64_t>& numbers) {
  const Tensor out = Empty(x.sizes().WithRows(std::ssize(numbers)), x.dtype());
  const size_t bytes = RowBytes(x);
  const auto* from = static_cast<const std::byte*>(x.data_ptr());
  auto* to = static_cast<std::byte*>(out.data_ptr());
  internal::ForRows(out.size(0), x.sizes().row_elements(), [&](int64_t first, int64_t past) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(past); ++i) {
      std::memcpy(to + i * bytes, from + static_cast<size_t>(numbers[i]) * bytes, bytes);
    }
  });
  return out;
}

// Adds row i of `from` to row `row_of(i)` of `to`, in their order. Threads share the columns.
template <typename RowOf>
void AddInOrder(const Tensor& from, const RowOf& row_of, const Tensor& to) {
  const int64_t rows = from.size(0), width = from.sizes().row_elements();
  internal::ForFloating(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* source = from.data_ptr<T>();
    T* sums = to.data_ptr<T>();
    internal::ForRows(width, rows, [&](int64_t first, int64_t past) {
      for (int64_t i = 0; i < rows; ++i) {
        internal::AddElements(source + i * width + first, past - first,
                              sums + row_of(i) * width + first);
      }
    });
  });
}

Tensor WithoutRows(const Tensor& x, const Tensor& cleared) {
  const Tensor out = Empty(x.sizes(), x.dtype());
  const size_t bytes = RowBytes(x);
  const auto* from = static_cast<const std::byte*>(x.data_ptr());
  const bool* clear = cleared.data_ptr<bool>();
  auto* to = static_cast<std::byte*>(out.data_ptr());
  internal::ForRows(x.size(0), x.sizes().row_elements(), [&](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) {
      const size_t at = static_cast<size_t>(i) * bytes;
      if (clear[i]) {
        std::memset(to + at, 0, bytes);
      } else {
        std::memcpy(to + at, from + at, bytes);
      }
    }
  });
  return out;
}

Tensor WithRowAdded(const Tensor& x, const Tensor& row) {
  const Tensor out = Empty(x.sizes(), x.dtype());
  const int64_t width = x.size(1);
  internal::ForFloating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *from = x.data_ptr<T>(), *added = row.data_ptr<T>();
    T* to = out.data_ptr<T>();
    internal::ForRows(x.size(0), width, [=](int64_t first, int64_t past) {
      for (int64_t i = first; i < past; ++i) {
        std::copy_n(from + i * width, width, to + i * width);
        internal::AddElements(added, width, to + i * width);
      }
    });
  });
  return out;
}

}  // namespace

Tensor TakeRows(const Tensor& x, const Tensor& rows) {
  Require(x.dim() > 0, "TakeRows", "a tensor with rows", x);
  Require(rows.dim() == 1 && (rows.dtype() == kLong || rows.dtype() == kInt), "TakeRows",
          "rows int64 or int32 [k]", rows);
  if (const auto* device = FunctionsFor("TakeRows", {&x, &rows})) return device->TakeRows(x, rows);
  std::vector<int64_t> numbers = RowNumbers(x, rows);
  const Tensor out = Taken(x, numbers);
  if (!NeedsGradient({x})) return out;
  return WithBackward("TakeRows", out, {x},
                      [sizes = x.sizes(), numbers = std::move(numbers)](const Tensor& grad) {
                        const Tensor sums = Zeros(sizes, grad.dtype());
                        AddInOrder(
                            grad, [&](int64_t i) { return numbers[static_cast<size_t>(i)]; }, sums);
                        return std::vector{sums};
                      });
}

Tensor ClearRows(const Tensor& x, const Tensor& cleared) {
  Require(x.dim() > 0, "ClearRows", "a tensor with rows", x);
  Require(cleared.dtype() == kBool && cleared.sizes() == Shape{x.size(0)}, "ClearRows",
          "a bool for each row", cleared);
  if (const auto* device = FunctionsFor("ClearRows", {&x, &cleared})) {
    return device->ClearRows(x, cleared);
  }
  const Tensor out = WithoutRows(x, cleared);
  if (!NeedsGradient({x})) return out;
  return WithBackward("ClearRows", out, {x}, [cleared](const Tensor& grad) {
    return std::vector{WithoutRows(grad, cleared)};
  });
}

Tensor AddToRows(const Tensor& x, const Tensor& row) {
  Require(x.dim() == 2 && IsFloating(x.dtype()), "AddToRows", "floating x [n, m]", x);
  Require(row.sizes() == Shape{x.size(1)} && row.dtype() == x.dtype(), "AddToRows",
          "a row of the width and type of x", row);
  if (const auto* device = FunctionsFor("AddToRows", {&x, &row})) return device->AddToRows(x, row);
  const Tensor out = WithRowAdded(x, row);
  if (!NeedsGradient({x, row})) return out;
  return WithBackward("AddToRows", out, {x, row},
                      [sizes = row.sizes(), wanted = NeedsGradient({row})](const Tensor& grad) {
                        if (!wanted) return std::vector{grad, Tensor()};
                        const Tensor sum = Zeros(sizes, grad.dtype());
                        AddInOrder(
                            grad, [](int64_t) { return int64_t{0}; }, sum);
                        return std::vector{grad, sum};
                      });
}

}  // namespace tandem::tensor
