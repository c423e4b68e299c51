#include "cli/process/memory_problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::app {
namespace {

using ::testing::StartsWith;

TEST(MemoryProblem, AFullDeviceIsNoBug) {
  const MemoryError error(uint64_t{2} << 30, /*of_device=*/true);
  EXPECT_EQ(error.exit_code(), ExitCode::kUsage);
  EXPECT_THAT(MemoryProblem(error), StartsWith("the device is out of memory: it does not give "
                                               "2147483648 bytes (2.0 GiB); use --precision bf16"));
}

TEST(MemoryProblem, AFullProcessIsNoBug) {
  const MemoryError error(589824);
  EXPECT_EQ(error.exit_code(), ExitCode::kUsage);
  EXPECT_THAT(MemoryProblem(error), StartsWith("out of memory: the system does not give 589824 "
                                               "bytes (576.0 KiB); use --precision bf16"));
}

TEST(MemoryProblem, NobodyKnowsHowMuch) {
  EXPECT_THAT(MemoryProblem(MemoryError(0)),
              StartsWith("out of memory: the system does not give what is needed; use "));
}

}  // namespace
}  // namespace tandem::app
