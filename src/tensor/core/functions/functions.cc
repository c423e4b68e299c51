// Add, Mul and Sum.
#include "tensor/core/functions/functions.h"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {

using internal::FunctionsFor;

namespace {

void ExpectFloating(const char* function, const Tensor& found) {
  if (IsFloating(found.dtype())) return;
  throw std::logic_error(
      fmt::format("{}: expected a floating type, found {}", function, found.Text()));
}

void ExpectSame(const char* function, const Tensor& a, const Tensor& b) {
  if (IsFloating(a.dtype()) && a.dtype() == b.dtype() && a.sizes() == b.sizes()) return;
  throw std::logic_error(
      fmt::format("{}: expected two tensors of one shape and floating type, found {} and {}",
                  function, a.Text(), b.Text()));
}

// A new tensor of combine(a[i], b[i]).
template <typename Combine>
Tensor Combined(const Tensor& a, const Tensor& b, const Combine& combine) {
  const Tensor out = EmptyLike(a);
  internal::ForFloating(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *left = a.data_ptr<T>(), *right = b.data_ptr<T>();
    T* to = out.data_ptr<T>();
    internal::ForEach(a.numel(), [=](int64_t i) {
      to[i] =
          internal::Converted<T>(combine(internal::Widened(left[i]), internal::Widened(right[i])));
    });
  });
  return out;
}

Tensor Products(const Tensor& a, const Tensor& b) {
  return Combined(a, b, [](auto x, auto y) { return x * y; });
}

template <typename T>
T SumOf(const Tensor& x) {
  const T* from = x.data_ptr<T>();
  T sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += from[i];
  return sum;
}

}  // namespace

Tensor Add(const Tensor& a, const Tensor& b) {
  ExpectSame("Add", a, b);
  if (const auto* device = FunctionsFor("Add", {&a, &b})) return device->Add(a, b);
  const Tensor out = Combined(a, b, [](auto x, auto y) { return x + y; });
  if (!NeedsGradient({a, b})) return out;
  return WithBackward("Add", out, {a, b}, [](const Tensor& grad) {
    return std::vector{grad, grad};
  });
}

Tensor Mul(const Tensor& a, const Tensor& b) {
  ExpectSame("Mul", a, b);
  if (const auto* device = FunctionsFor("Mul", {&a, &b})) return device->Mul(a, b);
  const Tensor out = Products(a, b);
  if (!NeedsGradient({a, b})) return out;
  return WithBackward("Mul", out, {a, b},
                      [a = NeedsGradient({b}) ? a.detach() : Tensor(),
                       b = NeedsGradient({a}) ? b.detach() : Tensor()](const Tensor& grad) {
                        return std::vector{b.defined() ? Products(grad, b) : Tensor(),
                                           a.defined() ? Products(grad, a) : Tensor()};
                      });
}

Tensor Mul(const Tensor& a, double factor) {
  ExpectFloating("Mul", a);
  if (const auto* device = FunctionsFor("Mul", {&a})) return device->Mul(a, factor);
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
  ExpectFloating("Sum", x);
  if (const auto* device = FunctionsFor("Sum", {&x})) return device->Sum(x);
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
