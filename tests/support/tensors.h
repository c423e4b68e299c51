// Tensors of tests: made of numbers, random, compared, and reduced to a loss.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem {

// The elements, in their order, as doubles. A tensor of whole numbers up to 2^53 is exact.
inline std::vector<double> ElementsOf(const tensor::Tensor& x) {
  const tensor::Tensor values = tensor::OnCpu(x.detach()).to(tensor::kDouble);
  const auto* first = values.data_ptr<double>();
  return {first, first + values.numel()};
}

// A tensor of these elements, as many as the shape has.
inline tensor::Tensor MakeTensor(const tensor::Shape& shape, const std::vector<double>& elements,
                                 tensor::DType type = tensor::kFloat) {
  const tensor::Tensor values = tensor::Empty({std::ssize(elements)}, tensor::kDouble);
  std::copy(elements.begin(), elements.end(), values.data_ptr<double>());
  return values.to(type).view(shape);
}

// Independent numbers from -1 to 1, which the seed decides.
inline tensor::Tensor RandomTensor(const tensor::Shape& shape, uint64_t seed,
                                   tensor::DType type = tensor::kFloat) {
  RandomStream stream({.seed = seed, .purpose = "random tensor"});
  std::vector<double> elements(static_cast<size_t>(shape.numel()));
  for (double& element : elements) element = 2 * stream.Uniform() - 1;
  return MakeTensor(shape, elements, type);
}

// Adds to each element of a float tensor, which may be a leaf that wants a gradient.
inline void AddToEach(const tensor::Tensor& x, double summand) {
  auto* values = x.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) values[i] += static_cast<float>(summand);
  x.bump_version();
}

// Says whether shapes, types and elements are the same; a NaN is no number's equal.
inline bool AreEqual(const tensor::Tensor& a, const tensor::Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && ElementsOf(a) == ElementsOf(b);
}

// The length of all elements as one vector.
inline double NormOf(const tensor::Tensor& x) {
  double squares = 0;
  for (const double element : ElementsOf(x)) squares += element * element;
  return std::sqrt(squares);
}

// The differences of the elements, float64, of two tensors of one shape.
inline tensor::Tensor Difference(const tensor::Tensor& a, const tensor::Tensor& b) {
  const std::vector<double> minus = ElementsOf(b);
  std::vector<double> elements = ElementsOf(a);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] -= minus.at(i);
  return MakeTensor(a.sizes(), elements, tensor::kDouble);
}

inline double Distance(const tensor::Tensor& a, const tensor::Tensor& b) {
  return NormOf(Difference(a, b));
}

// The largest absolute value of an element; NaN where one is that.
inline double LargestOf(const tensor::Tensor& x) {
  double largest = 0;
  for (const double element : ElementsOf(x)) {
    if (!(std::abs(element) <= largest)) largest = std::abs(element);
  }
  return largest;
}

inline double LargestDifference(const tensor::Tensor& a, const tensor::Tensor& b) {
  return LargestOf(Difference(a, b));
}

// The sum of the products of the elements of two tensors of one shape.
inline double DotOf(const tensor::Tensor& a, const tensor::Tensor& b) {
  const std::vector<double> with = ElementsOf(b);
  double sum = 0;
  size_t i = 0;
  for (const double element : ElementsOf(a)) sum += element * with.at(i++);
  return sum;
}

// The sum of sin(x[i]) cos(i) over all elements i, float64: a loss to which each element has a part
// of its own. Gradients flow through it.
inline tensor::Tensor SineLoss(const tensor::Tensor& x) {
  const tensor::Tensor values = x.to(tensor::kDouble);
  double sum = 0;
  double place = 0;
  for (const double element : ElementsOf(values)) sum += std::sin(element) * std::cos(place++);
  const tensor::Tensor loss = MakeTensor({}, {sum}, tensor::kDouble);
  if (!tensor::NeedsGradient({values})) return loss;
  return tensor::WithBackward(
      "SineLoss", loss, {values}, [values = values.detach()](const tensor::Tensor& grad) {
        const auto factor = grad.item<double>();
        std::vector<double> slopes = ElementsOf(values);
        for (size_t i = 0; i < slopes.size(); ++i) {
          slopes[i] = factor * std::cos(slopes[i]) * std::cos(static_cast<double>(i));
        }
        return std::vector{MakeTensor(values.sizes(), slopes, tensor::kDouble)};
      });
}

// A leaf's gradient of the leaf's shape, also where it is kept as rows; undefined where there is
// none.
inline tensor::Tensor GradientOf(const tensor::Tensor& leaf) {
  if (const tensor::SparseRows* rows = leaf.row_grad()) return tensor::Dense(*rows, leaf.sizes());
  return leaf.grad();
}

}  // namespace tandem
