#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "dist/process_group.h"
#include "dist/thread_groups.h"
#include "tensor/core/back_end/device_functions.h"

namespace tandem::dist {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Launch kOneOfTwo = {.rank = 1, .ranks = 2, .address = "127.0.0.1", .port = 1};

TEST(JoinTest, SeveralProcessesNeedTheBackEnd) {
  EXPECT_TRUE(ProcessGroup::Join(Launch())->alone());
  try {
    ProcessGroup::Join(kOneOfTwo);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 of 2 processes"),
                                    HasSubstr("libtandem-torch.so"), HasSubstr("not there")));
  }
}

// The loader sets what makes groups, as the back end does.
TEST(JoinTest, AsksTheBackEndThatIsLoadedForThem) {
  tensor::SetBackEndLoader([] { throw UsageError("it is broken"); });
  try {
    ProcessGroup::Join(kOneOfTwo);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("it is broken"));
  }
  SetGroupMaker([](const Launch& launch, const GroupOptions&) {
    return std::make_unique<ThreadGroup>(std::make_shared<MeetingPlace>(launch.ranks), launch.rank);
  });
  const auto group = ProcessGroup::Join(kOneOfTwo);
  EXPECT_EQ(group->rank(), 1);
  EXPECT_EQ(group->ranks(), 2);
  SetGroupMaker(nullptr);
  tensor::SetBackEndLoader(nullptr);
}

}  // namespace
}  // namespace tandem::dist
