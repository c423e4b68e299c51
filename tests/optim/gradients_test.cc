#include "optim/gradients.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/machine/device.h"

namespace tandem::optim {
namespace {

std::vector<model::NamedParameter> ParametersOf(const std::vector<at::Tensor>& gradients) {
  std::vector<model::NamedParameter> parameters;
  for (const at::Tensor& gradient : gradients) {
    at::Tensor value = at::full(gradient.sizes(), 1.0f).set_requires_grad(true);
    value.mutable_grad() = gradient;
    parameters.push_back({.name = "p", .value = value});
  }
  return parameters;
}

TEST(GradientNorm, IsTheRootOfAllSquares) {
  // 3 * 1 + 50001 * 4 = 200007; 4 and 2 are exact in float.
  if (tensor::DeviceFormsForced()) GTEST_SKIP() << "a device's norm is float: see below";
  auto parameters = ParametersOf({at::full({3}, 1.0f), at::full({3, 16667}, 2.0f)});
  parameters.push_back({.name = "without", .value = at::full({5}, 9.0f)});
  EXPECT_DOUBLE_EQ(GradientNorm(parameters), std::sqrt(200007.0));
  EXPECT_EQ(GradientNorm({}), 0);
}

TEST(GradientNorm, OfSomeRowsIsThatOfTheWhole) {
  at::Tensor whole = at::randn({50, 8});
  whole.slice(0, 0, 50, 3).zero_();
  EXPECT_DOUBLE_EQ(GradientNorm(ParametersOf({whole.to_sparse(1)})),
                   GradientNorm(ParametersOf({whole})));
}

TEST(GradientNorm, DoesNotDependOnThreads) {
  const auto parameters = ParametersOf({at::randn({100003}), at::randn({77, 5}), at::randn({1})});
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const double one = GradientNorm(parameters);
  at::set_num_threads(4);
  EXPECT_EQ(GradientNorm(parameters), one);
  at::set_num_threads(threads);
}

TEST(GradientNorm, IsNotFiniteWhereAGradientIsNot) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    at::Tensor gradient = at::full({20000}, 1.0f);
    static_cast<float*>(gradient.data_ptr())[19999] = bad;
    EXPECT_FALSE(std::isfinite(GradientNorm(ParametersOf({gradient}))));
  }
}

TEST(DeviceGradientNorm, IsTheNormWithinWhatFloatsRound) {
  at::Tensor whole = at::randn({50, 8});
  whole.slice(0, 0, 50, 3).zero_();
  auto parameters = ParametersOf({at::randn({100003}), at::randn({77, 5}), whole.to_sparse(1)});
  parameters.push_back({.name = "without", .value = at::full({5}, 9.0f)});
  const double norm = GradientNorm(parameters);
  EXPECT_NEAR(DeviceGradientNorm(parameters), norm, 1e-5 * norm);
  EXPECT_EQ(DeviceGradientNorm({}), 0);
  EXPECT_FALSE(std::isfinite(DeviceGradientNorm(ParametersOf({at::full({3}, std::nanf(""))}))));
}

TEST(ClipFactor, BringsTheNormToTheLimitAndNeverUp) {
  EXPECT_EQ(ClipFactor(4, 1), 0.25);
  EXPECT_EQ(ClipFactor(0.5, 1), 1);
  EXPECT_EQ(ClipFactor(1e9, 0), 1);
  EXPECT_EQ(ClipFactor(0, 1), 1);
}

TEST(ClearGradients, DropsAll) {
  auto parameters = ParametersOf({at::randn({3}), at::randn({2})});
  ClearGradients(parameters);
  for (const auto& parameter : parameters) EXPECT_FALSE(parameter.value.grad().defined());
}

}  // namespace
}  // namespace tandem::optim
