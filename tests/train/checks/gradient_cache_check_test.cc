#include "train/checks/gradient_cache_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/core/tensor.h"
#include "tensor/core/values.h"

namespace tandem::train {
namespace {

tensor::Tensor Row(double a, double b) {
  return tensor::Of<float>({2}, {static_cast<float>(a), static_cast<float>(b)});
}

std::vector<model::NamedParameter> Parameters() {
  std::vector<model::NamedParameter> parameters(3);
  parameters[0].name = "large";
  parameters[1].name = "small";
  parameters[2].name = "frozen";
  return parameters;
}

const std::vector<tensor::Tensor> kDirect = {Row(2, -4), Row(0.5, 0.25), {}};

TEST(LargestDifference, OfEqualGradientsIsZero) {
  const GradientDifference found = LargestDifference(Parameters(), kDirect, kDirect);
  EXPECT_EQ(found.relative, 0);
  EXPECT_EQ(found.parameter, "none");
}

TEST(LargestDifference, IsRelativeToTheParameterAndNamesIt) {
  const GradientDifference found =
      LargestDifference(Parameters(), kDirect, {Row(2.1, -4), Row(0.5, 0.35), {}});
  EXPECT_NEAR(found.relative, 0.2, 1e-6);  // 0.1 of 0.5, not 0.1 of 4
  EXPECT_EQ(found.parameter, "small");
}

TEST(LargestDifference, RoundingOfWhatIsNearlyZeroDoesNotCount) {
  const std::vector<tensor::Tensor> direct = {Row(2, -4), Row(1e-9, 0), {}};
  const GradientDifference found =
      LargestDifference(Parameters(), direct, {Row(2, -4), Row(5e-9, 0), {}});
  EXPECT_NEAR(found.relative, 4e-9 / 4e-3, 1e-9);
}

TEST(LargestDifference, AMissingGradientIsWhollyWrong) {
  const GradientDifference found = LargestDifference(Parameters(), kDirect, {Row(2, -4), {}, {}});
  EXPECT_NEAR(found.relative, 1, 1e-6);
  EXPECT_EQ(found.parameter, "small");
}

TEST(LargestDifference, ANotANumberDoesNotHold) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const GradientDifference found =
      LargestDifference(Parameters(), kDirect, {Row(2, -4), Row(nan, 0.25), {}});
  EXPECT_TRUE(std::isnan(found.relative));
  EXPECT_EQ(found.parameter, "small");
  EXPECT_FALSE((GradientCacheReport{.worst = found.relative, .bound = 1, .text = ""}.holds()));
}

}  // namespace
}  // namespace tandem::train
