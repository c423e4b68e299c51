#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "optim/every_optimizer.h"

namespace tandem::optim {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Catalogue, EveryOptimizer,
    testing::Combine(testing::ValuesIn(Optimizers().begin(), Optimizers().end()),
                     testing::Values(RuleForm::kHost)),
    [](const auto& test) { return std::string(std::get<0>(test.param)->name); });

// Without a back end there is no rule for a device, and none is taken instead.
TEST(Optimizer, SaysThatNoBackEndIsThereForItsDeviceForm) {
  for (const OptimizerInfo* info : Optimizers()) {
    const tensor::Tensor value = tensor::Zeros({2}, tensor::kFloat);
    EXPECT_THROW(Optimizer(*info, {{.name = "p", .value = value}}, RuleForm::kDevice), UsageError);
  }
}

}  // namespace
}  // namespace tandem::optim
