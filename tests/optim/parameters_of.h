// Parameters with given gradients, for tests.
#pragma once

#include <vector>

#include "model/forward.h"
#include "optim/row_gradients.h"
#include "support/tensors.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {

inline std::vector<model::NamedParameter> ParametersOf(
    const std::vector<tensor::Tensor>& gradients) {
  std::vector<model::NamedParameter> parameters;
  for (const tensor::Tensor& gradient : gradients) {
    const tensor::Tensor value = tensor::Zeros(gradient.sizes(), tensor::kFloat, gradient.device());
    value.set_requires_grad(true).set_grad(gradient);
    parameters.push_back({.name = "p", .value = value});
  }
  return parameters;
}

// Random numbers [50, 8], of which every third row is 0.
inline tensor::Tensor GradientWithEmptyRows() {
  const tensor::Tensor whole = RandomTensor({50, 8}, 1);
  for (int64_t row = 0; row < 50; row += 3) whole[row].zero_();
  return whole;
}

// A parameter whose gradient is the rows of `whole` that are not 0.
inline model::NamedParameter WithRowGradient(const tensor::Tensor& whole) {
  const tensor::Tensor value = tensor::Zeros(whole.sizes(), tensor::kFloat, whole.device());
  GiveRows(value.set_requires_grad(true), RowsThatAreNotZero(whole));
  return {.name = "table", .value = value};
}

}  // namespace tandem::optim
