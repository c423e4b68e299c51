// Product, ProductTransposed and TransposedProduct.
#include "tensor/core/products/products.h"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {
namespace {

template <typename T>
internal::StoredMatrix<T> Stored(const Tensor& x, bool transposed) {
  const internal::StoredMatrix<T> plain = {x.data_ptr<T>(), x.size(1), 1};
  return transposed ? plain.Transposed() : plain;
}

// A factor, or with `transposed` the transpose of x.
struct Factor {
  Tensor x;
  bool transposed = false;

  int64_t rows() const { return x.size(transposed ? 1 : 0); }
  int64_t columns() const { return x.size(transposed ? 0 : 1); }
  Factor Transposed() const { return {x, !transposed}; }
};

Tensor Multiplied(const Factor& left, const Factor& right) {
  const Tensor out = Empty({left.rows(), right.columns()}, left.x.dtype());
  const internal::ProductSizes sizes = {left.rows(), left.columns(), right.columns()};
  const auto multiply = [&](auto zero) {
    using T = decltype(zero);
    internal::Multiply(Stored<T>(left.x, left.transposed), Stored<T>(right.x, right.transposed),
                       sizes, out.data_ptr<T>());
  };
  out.dtype() == kDouble ? multiply(double{}) : multiply(float{});
  return out;
}

// The gradient of a factor's tensor from that of the factor, which is left right.
Tensor GradientOf(const Factor& factor, const Factor& left, const Factor& right) {
  return factor.transposed ? Multiplied(right.Transposed(), left.Transposed())
                           : Multiplied(left, right);
}

// left right, with gradients: d left = grad right^T and d right = left^T grad.
Tensor Recorded(const char* name, const Factor& left, const Factor& right) {
  const Tensor out = Multiplied(left, right);
  if (!NeedsGradient({left.x, right.x})) return out;
  return WithBackward(
      name, out, {left.x, right.x},
      [left = Factor{left.x.detach(), left.transposed},
       right = Factor{right.x.detach(), right.transposed}, left_wanted = NeedsGradient({left.x}),
       right_wanted = NeedsGradient({right.x})](const Tensor& gradient) {
        const Factor grad = {gradient};
        return std::vector{left_wanted ? GradientOf(left, grad, right.Transposed()) : Tensor(),
                           right_wanted ? GradientOf(right, left.Transposed(), grad) : Tensor()};
      });
}

// Throws unless a and b are matrices of one type of which these dimensions have the same size.
void Check(const char* function, const char* expected, const Tensor& a, int64_t dimension_of_a,
           const Tensor& b, int64_t dimension_of_b) {
  const bool real = a.dtype() == kFloat || a.dtype() == kDouble;
  if (real && a.dtype() == b.dtype() && a.dim() == 2 && b.dim() == 2 &&
      a.size(dimension_of_a) == b.size(dimension_of_b)) {
    return;
  }
  throw std::logic_error(fmt::format("{}: expected float32 or float64 {}, found {} and {}",
                                     function, expected, a.Text(), b.Text()));
}

}  // namespace

Tensor Product(const Tensor& a, const Tensor& b) {
  Check("Product", "[n, k] and [k, m]", a, 1, b, 0);
  if (const auto* device = internal::FunctionsFor("Product", {&a, &b})) {
    return device->Product(a, b);
  }
  return Recorded("Product", {a}, {b});
}

Tensor ProductTransposed(const Tensor& a, const Tensor& b) {
  Check("ProductTransposed", "[n, m] and [k, m]", a, 1, b, 1);
  if (const auto* device = internal::FunctionsFor("ProductTransposed", {&a, &b})) {
    return device->ProductTransposed(a, b);
  }
  return Recorded("ProductTransposed", {a}, {b, true});
}

Tensor TransposedProduct(const Tensor& a, const Tensor& b) {
  Check("TransposedProduct", "[n, k] and [n, m]", a, 0, b, 0);
  if (const auto* device = internal::FunctionsFor("TransposedProduct", {&a, &b})) {
    return device->TransposedProduct(a, b);
  }
  return Recorded("TransposedProduct", {a, true}, {b});
}

}  // namespace tandem::tensor
