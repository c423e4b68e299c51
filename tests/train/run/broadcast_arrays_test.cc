#include "train/run/broadcast_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dist/ranks.h"

namespace tandem::train {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BroadcastArrays, GivesRankZerosToAll) {
  const auto errors = dist::RunRanks(3, [](dist::ProcessGroup& group) {
    std::vector<sampling::StateArray> own = {{"other", std::vector<float>{9}}};
    if (group.leads()) {
      own = {{"floats", std::vector<float>{0.5F, -2}},
             {"integers", std::vector<uint32_t>{7, 1, 4000000000}},
             {"bytes", std::vector<uint8_t>{255}},
             {"none", std::vector<uint32_t>()}};
    }
    const auto all = BroadcastArrays(group, own);
    ASSERT_EQ(all.size(), 4);
    EXPECT_EQ(all[0].name, "floats");
    EXPECT_THAT(std::get<std::vector<float>>(all[0].values), ElementsAre(0.5F, -2));
    EXPECT_THAT(std::get<std::vector<uint32_t>>(all[1].values), ElementsAre(7, 1, 4000000000));
    EXPECT_THAT(std::get<std::vector<uint8_t>>(all[2].values), ElementsAre(255));
    EXPECT_EQ(all[3].name, "none");
    EXPECT_THAT(std::get<std::vector<uint32_t>>(all[3].values), IsEmpty());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::train
