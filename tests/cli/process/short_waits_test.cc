#include "cli/process/short_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace tandem::app {
namespace {

using ::testing::ExitedWithCode;
using ::testing::StrEq;

// Set for the process that WaitBriefly starts: this program, with the test below.
constexpr const char* kStartedAgain = "SHORT_WAITS_TEST_STARTED_AGAIN";

[[noreturn]] void StartAgain() {
  std::vector<std::string> words = {"app_test",
                                    "--gtest_filter=ShortWaitsTest.KeepsAPolicyThatIsSet"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  RememberArguments(static_cast<int>(arguments.size()), arguments.data());
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GTEST_TOTAL_SHARDS"}) {
    ::unsetenv(name);
  }
  ::setenv(kStartedAgain, "1", 1);
  WaitBriefly();
  std::exit(9);
}

TEST(ShortWaitsTest, StartsTheProgramAgainOnce) {
  EXPECT_EXIT(StartAgain(), ExitedWithCode(0), "");
}

TEST(ShortWaitsTest, KeepsAPolicyThatIsSet) {
  const bool started_again = std::getenv(kStartedAgain) != nullptr;
  if (!started_again) ::setenv("OMP_WAIT_POLICY", "active", 1);
  WaitBriefly();  // or it would start for ever
  EXPECT_THAT(std::getenv("OMP_WAIT_POLICY"), StrEq(started_again ? "passive" : "active"));
  if (started_again) {
    EXPECT_THAT(std::getenv("GOMP_SPINCOUNT"), StrEq("5000"));
  }
  ::unsetenv("OMP_WAIT_POLICY");
}

}  // namespace
}  // namespace tandem::app
