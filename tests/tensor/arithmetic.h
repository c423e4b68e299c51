// Plain arithmetic on tensors of tests, in loops over doubles and without gradients.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/core/values.h"

namespace tandem::tensor {

inline Tensor Ones(const Shape& shape, DType type = kFloat) { return Full(shape, 1, type); }

// function(a number of x) for each, of x's shape and type.
template <typename Function>
Tensor Mapped(const Tensor& x, const Function& function) {
  std::vector<double> values = DoublesOf(x);
  std::ranges::transform(values, values.begin(), function);
  return Doubles(x.sizes(), values).to(x.dtype());
}

// Says whether both have one shape, one type and the same bytes.
inline bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() &&
         std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

// The largest size of a number; NaN where one is, 0 where there is none.
inline double LargestSize(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) return number;
    largest = std::max(largest, std::fabs(number));
  }
  return largest;
}
inline double LargestSize(const Tensor& x) { return LargestSize(DoublesOf(x)); }

inline double LargestDifference(const Tensor& got, const Tensor& want) {
  EXPECT_EQ(got.sizes().Text(), want.sizes().Text());
  std::vector<double> differences = DoublesOf(got);
  std::ranges::transform(differences, DoublesOf(want), differences.begin(), std::minus());
  return LargestSize(differences);
}

// max|got - want| / max(1, max|want|).
inline double Error(const Tensor& got, const Tensor& want) {
  return LargestDifference(got, want) / std::max(1.0, LargestSize(want));
}

// The length of got - want over that of want.
inline double RelativeErrorOf(const Tensor& got, const Tensor& want) {
  const std::vector<double> found = DoublesOf(got), wanted = DoublesOf(want);
  double squares = 0, all = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    squares += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    all += wanted[i] * wanted[i];
  }
  return std::sqrt(squares / all);
}

// Says whether |got - want| <= absolute + relative |want| for each number.
inline bool AllClose(const Tensor& got, const Tensor& want, double relative, double absolute) {
  const std::vector<double> found = DoublesOf(got), wanted = DoublesOf(want);
  if (got.sizes() != want.sizes()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double bound = absolute + relative * std::fabs(wanted[i]);
    if (!(std::fabs(found[i] - wanted[i]) <= bound)) return false;
  }
  return true;
}

// Fixed weights of the numbers of `out`, the sines of their places, in double.
inline Tensor WeightsLike(const Tensor& out) {
  return Mapped(Arange(out.numel(), kDouble), [](double place) { return std::sin(place); })
      .view(out.sizes());
}

// The sum of the numbers of `out` times WeightsLike.
inline double WeightedSum(const Tensor& out) {
  const std::vector<double> numbers = DoublesOf(out), weights = DoublesOf(WeightsLike(out));
  double sum = 0;
  for (size_t i = 0; i < numbers.size(); ++i) sum += numbers[i] * weights[i];
  return sum;
}

// A copy of x in this type, as a leaf that wants a gradient.
inline Tensor LeafOf(const Tensor& x, DType type) {
  return x.detach().to(type).clone().set_requires_grad(true);
}
inline Tensor LeafOf(const Tensor& x) { return LeafOf(x, x.dtype()); }

// A leaf's gradient as a whole, in double; zeros where nothing was added to it.
inline Tensor GradientOf(const Tensor& leaf) {
  if (leaf.row_grad() != nullptr) return Dense(*leaf.row_grad(), leaf.sizes()).to(kDouble);
  return leaf.grad().defined() ? leaf.grad().to(kDouble) : Zeros(leaf.sizes(), kDouble);
}

}  // namespace tandem::tensor
