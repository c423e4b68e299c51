#include "tensor/profile/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tandem::tensor {
namespace {

// Works until the clock that the profile reads has gone on by so much.
void Spend(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

const Profile::Operation& Find(const Profile& profile, std::string_view name) {
  for (const Profile::Operation& operation : profile.operations()) {
    if (operation.name == name) return operation;
  }
  throw std::out_of_range("no such operation");
}

TEST(Profile, ATimeIsWithoutWhatIsInside) {
  Profile profile;
  const auto start = std::chrono::steady_clock::now();
  {
    const ActiveProfile active(&profile);
    const ProfileScope outer("outer");
    for (int i = 0; i < 2; ++i) {
      const ProfileScope middle("middle", {.flops = 10, .bytes = 3});
      {
        const ProfileScope inner("inner");
        Spend(4);
      }
      Spend(1);
    }
  }
  const double whole =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto& outer = Find(profile, "outer");
  const auto& middle = Find(profile, "middle");
  const auto& inner = Find(profile, "inner");
  EXPECT_EQ(outer.calls, 1);
  EXPECT_EQ(middle.calls, 2);
  EXPECT_EQ(middle.work.flops, 20);
  EXPECT_EQ(middle.work.bytes, 6);
  EXPECT_GE(inner.seconds, 0.008);
  EXPECT_GE(middle.seconds, 0.002);
  // The whole time is shared out once.
  EXPECT_LE(outer.seconds + middle.seconds + inner.seconds, whole);
  EXPECT_GE(outer.seconds + middle.seconds + inner.seconds, 0.010);
}

TEST(Profile, NothingIsWrittenWhereItIsOff) {
  Profile profile;
  {
    const ProfileScope before("before");
    const ActiveProfile active(&profile);
    const ProfileScope during("during");
    std::thread([] { const ProfileScope elsewhere("elsewhere"); }).join();
  }
  EXPECT_EQ(Profile::Active(), nullptr);
  const ProfileScope after("after");
  ASSERT_EQ(profile.operations().size(), 1U);
  EXPECT_EQ(profile.operations()[0].name, "during");
}

}  // namespace
}  // namespace tandem::tensor
