#include "dist/one_gpu_each.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace tandem::dist {
namespace {

TEST(CheckOneGpuEach, NamesTheRanksThatShareOne) {
  EXPECT_NO_THROW(CheckOneGpuEach(std::vector<std::string>{"a", "b", "c"}));
  EXPECT_NO_THROW(CheckOneGpuEach({}));
  try {
    CheckOneGpuEach(std::vector<std::string>{"a", "b", "c", "b"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("ranks 1 and 3 have the same GPU"));
  }
}

}  // namespace
}  // namespace tandem::dist
