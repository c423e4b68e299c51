// Optimizers whose rules the back end computes, on the CPU.
#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <string>

#include "optim/every_optimizer.h"

namespace tandem::optim {
namespace {

INSTANTIATE_TEST_SUITE_P(
    OnADevice, EveryOptimizer,
    testing::Combine(testing::ValuesIn(Optimizers().begin(), Optimizers().end()),
                     testing::Values(RuleForm::kDevice)),
    [](const auto& test) { return std::string(std::get<0>(test.param)->name); });

}  // namespace
}  // namespace tandem::optim
