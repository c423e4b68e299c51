#include "cli/process/machine_problem.h"

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

TEST(MachineProblem, AFullProcessIsNoBug) {
  try {
    TORCH_CHECK(false,
                "[enforce fail at alloc_cpu.cpp:80] . DefaultCPUAllocator: can't allocate memory: "
                "you tried to allocate 589824 bytes. Error code 12 (Cannot allocate memory)");
  } catch (const std::exception& error) {
    const auto problem = MachineProblem(error);
    ASSERT_TRUE(problem.has_value());
    EXPECT_THAT(*problem, testing::StartsWith("out of memory: the system does not give 589824 "
                                              "bytes; use --precision bf16"));
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
