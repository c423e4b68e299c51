// Makes the tests of this program run in groups of the back end.
#include <gtest/gtest.h>

#include "libtorch/dist/launches.h"
#include "libtorch/use.h"

namespace tandem::dist {
namespace {

class Launches final : public testing::Environment {
 public:
  void SetUp() override {
    libtorch::UseInThisProcess();
    TestGroups() = JoinerOfLaunch;
  }
};

[[maybe_unused]] testing::Environment* const kLaunches =
    testing::AddGlobalTestEnvironment(new Launches);

}  // namespace
}  // namespace tandem::dist
