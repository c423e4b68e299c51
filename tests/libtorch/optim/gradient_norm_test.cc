// The norm of a gradient as the back end computes it, on the device of tests.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "optim/gradients.h"
#include "optim/parameters_of.h"
#include "support/tensors.h"
#include "support/test_device.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {
namespace {

TEST(DeviceGradientNorm, IsTheNormWithinWhatFloatsRound) {
  auto parameters = ParametersOf(
      {OnTestDevice(RandomTensor({100003}, 1)), OnTestDevice(RandomTensor({77, 5}, 2))});
  parameters.push_back(WithRowGradient(OnTestDevice(GradientWithEmptyRows())));
  const tensor::Tensor without = OnTestDevice(tensor::Full({5}, 9, tensor::kFloat));
  parameters.push_back({.name = "without", .value = without});
  double squares = 0;
  for (const auto& parameter : parameters) {
    const tensor::Tensor gradient = tandem::GradientOf(parameter.value);
    if (gradient.defined()) squares += NormOf(gradient) * NormOf(gradient);
  }
  EXPECT_NEAR(DeviceGradientNorm(parameters), std::sqrt(squares), 1e-5 * std::sqrt(squares));
  EXPECT_EQ(DeviceGradientNorm({}), 0);
  const tensor::Tensor bad = OnTestDevice(tensor::Full({3}, std::nan(""), tensor::kFloat));
  EXPECT_FALSE(std::isfinite(DeviceGradientNorm(ParametersOf({bad}))));
}

}  // namespace
}  // namespace tandem::optim
