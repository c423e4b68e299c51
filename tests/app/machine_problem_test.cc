#include "app/machine_problem.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tandem::app {
namespace {

TEST(MachineProblem, AFullDeviceIsNoBug) {
  try {
    TORCH_CHECK_WITH(OutOfMemoryError, false, "Tried to allocate 2.00 GiB\nmore");
  } catch (const std::exception& error) {
    const auto problem = MachineProblem(error);
    ASSERT_TRUE(problem.has_value());
    EXPECT_THAT(*problem, testing::StartsWith("the device is out of memory: Tried to allocate "
                                              "2.00 GiB; use --precision bf16"));
  }
}

TEST(MachineProblem, OtherErrorsAre) {
  EXPECT_FALSE(MachineProblem(std::runtime_error("out of memory")).has_value());
  try {
    TORCH_CHECK(false, "out of memory");
  } catch (const std::exception& error) {
    EXPECT_FALSE(MachineProblem(error).has_value());
  }
}

}  // namespace
}  // namespace tandem::app
