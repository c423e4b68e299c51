#include "tensor/core/functions/functions.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/core/make.h"
#include "tensor/core/tape.h"

namespace tandem::tensor {
namespace {

void Require(bool holds, const char* function, const char* expected, const Tensor& found) {
  if (holds) return;
  throw std::logic_error(
      fmt::format("{}: expected {}, found {}", function, expected, found.Text()));
}

void ExpectSame(const char* function, const Tensor& a, const Tensor& b) {
  if (IsFloating(a.dtype()) && a.dtype() == b.dtype() && a.sizes() == b.sizes()) return;
  throw std::logic_error(
      fmt::format("{}: expected two tensors of one shape and floating type, found {} and {}",
                  function, a.Text(), b.Text()));
}

// Numbers of rows, inside x.
std::vector<int64_t> RowNumbers(const Tensor& x, const Tensor& rows) {
  Require(x.dim() > 0, "TakeRows", "a tensor with rows", x);
  Require(rows.dim() == 1 && (rows.dtype() == kLong || rows.dtype() == kInt), "TakeRows",
          "rows int64 or int32 [k]", rows);
  const Tensor numbers = rows.to(kLong);
  const auto* number = numbers.data_ptr<int64_t>();
  std::vector<int64_t> all(number, number + rows.numel());
  for (const int64_t row : all) {
    if (row >= 0 && row < x.size(0)) continue;
    throw std::logic_error(fmt::format("TakeRows: {} has no row {}", x.Text(), row));
  }
  return all;
}

Tensor WithoutRows(const Tensor& x, const Tensor& cleared) {
  const Tensor out = x.detach().clone();
  const bool* clear = cleared.data_ptr<bool>();
  for (int64_t i = 0; i < out.size(0); ++i) {
    if (clear[i]) out[i].zero_();
  }
  return out;
}

Tensor Product(const Tensor& a, const Tensor& b) {
  const Tensor out = EmptyLike(a);
  if (a.dtype() == kBFloat16 || a.dtype() == kHalf) {
    out.copy_(Product(a.detach().to(kFloat), b.detach().to(kFloat)));
    return out;
  }
  const auto multiply = [&](auto zero) {
    using T = decltype(zero);
    const T *from = a.data_ptr<T>(), *by = b.data_ptr<T>();
    T* to = out.data_ptr<T>();
    for (int64_t i = 0; i < a.numel(); ++i) to[i] = from[i] * by[i];
  };
  a.dtype() == kDouble ? multiply(double{}) : multiply(float{});
  return out;
}

template <typename T>
T SumOf(const Tensor& x) {
  const T* from = x.data_ptr<T>();
  T sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += from[i];
  return sum;
}

}  // namespace

Tensor TakeRows(const Tensor& x, const Tensor& rows) {
  std::vector<int64_t> numbers = RowNumbers(x, rows);
  const Tensor from = x.detach(), out = Empty(x.sizes().WithRows(rows.numel()), x.dtype());
  for (size_t i = 0; i < numbers.size(); ++i) {
    out[static_cast<int64_t>(i)].copy_(from[numbers[i]]);
  }
  if (!NeedsGradient({x})) return out;
  return WithBackward("TakeRows", out, {x},
                      [sizes = x.sizes(), numbers = std::move(numbers)](const Tensor& grad) {
                        const Tensor sums = Zeros(sizes, grad.dtype());
                        for (size_t i = 0; i < numbers.size(); ++i) {
                          sums[numbers[i]].add_(grad[static_cast<int64_t>(i)]);
                        }
                        return std::vector{sums};
                      });
}

Tensor ClearRows(const Tensor& x, const Tensor& cleared) {
  Require(x.dim() > 0, "ClearRows", "a tensor with rows", x);
  Require(cleared.dtype() == kBool && cleared.sizes() == Shape{x.size(0)}, "ClearRows",
          "a bool for each row", cleared);
  const Tensor out = WithoutRows(x, cleared);
  if (!NeedsGradient({x})) return out;
  return WithBackward("ClearRows", out, {x}, [cleared](const Tensor& grad) {
    return std::vector{WithoutRows(grad, cleared)};
  });
}

Tensor Add(const Tensor& a, const Tensor& b) {
  ExpectSame("Add", a, b);
  const Tensor out = a.detach().clone();
  out.add_(b.detach());
  if (!NeedsGradient({a, b})) return out;
  return WithBackward("Add", out, {a, b}, [](const Tensor& grad) {
    return std::vector{grad, grad};
  });
}

Tensor AddToRows(const Tensor& x, const Tensor& row) {
  Require(x.dim() == 2 && IsFloating(x.dtype()), "AddToRows", "floating x [n, m]", x);
  Require(row.sizes() == Shape{x.size(1)} && row.dtype() == x.dtype(), "AddToRows",
          "a row of the width and type of x", row);
  const Tensor out = x.detach().clone(), added = row.detach();
  for (int64_t i = 0; i < out.size(0); ++i) out[i].add_(added);
  if (!NeedsGradient({x, row})) return out;
  return WithBackward("AddToRows", out, {x, row},
                      [sizes = row.sizes(), wanted = NeedsGradient({row})](const Tensor& grad) {
                        Tensor sum;
                        if (wanted) sum = Zeros(sizes, grad.dtype());
                        for (int64_t i = 0; i < grad.size(0) && wanted; ++i) sum.add_(grad[i]);
                        return std::vector{grad, sum};
                      });
}

Tensor Mul(const Tensor& a, const Tensor& b) {
  ExpectSame("Mul", a, b);
  const Tensor out = Product(a, b);
  if (!NeedsGradient({a, b})) return out;
  return WithBackward("Mul", out, {a, b},
                      [a = NeedsGradient({b}) ? a.detach() : Tensor(),
                       b = NeedsGradient({a}) ? b.detach() : Tensor()](const Tensor& grad) {
                        return std::vector{b.defined() ? Product(grad, b) : Tensor(),
                                           a.defined() ? Product(grad, a) : Tensor()};
                      });
}

Tensor Mul(const Tensor& a, double factor) {
  Require(IsFloating(a.dtype()), "Mul", "a floating type", a);
  const Tensor out = a.detach().clone();
  out.mul_(factor);
  if (!NeedsGradient({a})) return out;
  return WithBackward("Mul", out, {a}, [factor](const Tensor& grad) {
    const Tensor scaled = grad.clone();
    scaled.mul_(factor);
    return std::vector{scaled};
  });
}

Tensor Sum(const Tensor& x) {
  Require(IsFloating(x.dtype()), "Sum", "a floating type", x);
  const Tensor out = Empty({}, x.dtype());
  if (x.dtype() == kDouble) {
    out.fill_(SumOf<double>(x));
  } else {
    out.fill_(SumOf<float>(x.detach().to(kFloat)));
  }
  if (!NeedsGradient({x})) return out;
  return WithBackward("Sum", out, {x}, [sizes = x.sizes()](const Tensor& grad) {
    return std::vector{Full(sizes, grad.item<double>(), grad.dtype())};
  });
}

}  // namespace tandem::tensor
