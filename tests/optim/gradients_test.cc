#include "optim/gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "optim/parameters_of.h"
#include "support/tensors.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/device.h"

namespace tandem::optim {
namespace {

tensor::Tensor Filled(const tensor::Shape& shape, double value) {
  return tensor::Full(shape, value, tensor::kFloat);
}

// TANDEM_FORMS=portable asks for the back end's norm, which tests/libtorch/optim tests.
class GradientNormOfHost : public testing::Test {
 protected:
  void SetUp() override {
    if (tensor::DeviceFormsForced()) GTEST_SKIP() << "the host's norm is not asked for";
  }
};

TEST_F(GradientNormOfHost, IsTheRootOfAllSquares) {
  // 3 * 1 + 50001 * 4 = 200007; 4 and 2 are exact in float.
  auto parameters = ParametersOf({Filled({3}, 1), Filled({3, 16667}, 2)});
  parameters.push_back({.name = "without", .value = Filled({5}, 9)});
  EXPECT_DOUBLE_EQ(GradientNorm(parameters), std::sqrt(200007.0));
  EXPECT_EQ(GradientNorm({}), 0);
}

TEST_F(GradientNormOfHost, OfSomeRowsIsThatOfTheWhole) {
  const tensor::Tensor whole = GradientWithEmptyRows();
  EXPECT_DOUBLE_EQ(GradientNorm(std::vector{WithRowGradient(whole)}),
                   GradientNorm(ParametersOf({whole})));
}

TEST_F(GradientNormOfHost, DoesNotDependOnThreads) {
  const auto parameters =
      ParametersOf({RandomTensor({100003}, 1), RandomTensor({77, 5}, 2), RandomTensor({1}, 3)});
  const int threads = tensor::ThreadCount();
  tensor::SetThreadCount(1);
  const double one = GradientNorm(parameters);
  tensor::SetThreadCount(4);
  EXPECT_EQ(GradientNorm(parameters), one);
  tensor::SetThreadCount(threads);
}

TEST_F(GradientNormOfHost, IsNotFiniteWhereAGradientIsNot) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const tensor::Tensor gradient = Filled({20000}, 1);
    gradient.data_ptr<float>()[19999] = bad;
    EXPECT_FALSE(std::isfinite(GradientNorm(ParametersOf({gradient}))));
  }
}

TEST(DeviceGradientNorm, SaysThatNoBackEndIsThere) {
  EXPECT_THROW(DeviceGradientNorm(ParametersOf({Filled({3}, 1)})), UsageError);
  EXPECT_EQ(DeviceGradientNorm({}), 0);
}

TEST(ClipFactor, BringsTheNormToTheLimitAndNeverUp) {
  EXPECT_EQ(ClipFactor(4, 1), 0.25);
  EXPECT_EQ(ClipFactor(0.5, 1), 1);
  EXPECT_EQ(ClipFactor(1e9, 0), 1);
  EXPECT_EQ(ClipFactor(0, 1), 1);
}

TEST(ClearGradients, DropsAll) {
  auto parameters = ParametersOf({Filled({3}, 1), Filled({2}, 1)});
  parameters.push_back(WithRowGradient(GradientWithEmptyRows()));
  ClearGradients(parameters);
  for (const auto& parameter : parameters) {
    EXPECT_EQ(parameter.value.row_grad(), nullptr);
    EXPECT_FALSE(parameter.value.grad().defined());
  }
}

}  // namespace
}  // namespace tandem::optim
