#include "tensor/memory/allocation_count.h"

#include <gtest/gtest.h>

#include <optional>

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {
namespace {

TEST(AllocationCount, CountsLargeAndSmallTensorsToTheByte) {
  const Tensor before = Empty({1000}, kFloat);
  Tensor outlives;
  {
    AllocationCount count;
    EXPECT_EQ(count.now(), 0);
    {
      const Tensor small = Empty({3}, kFloat);
      const Tensor large = Empty({1000, 1000}, kFloat);
      EXPECT_EQ(count.now(), 4'000'012);
      const Tensor view = large.narrow(0, 0, 10);
      EXPECT_EQ(count.now(), 4'000'012);
    }
    EXPECT_EQ(count.now(), 0);
    EXPECT_EQ(count.most(), 4'000'012);
    outlives = Empty({5}, kDouble);
    count.ResetMost();
    EXPECT_EQ(count.most(), 40);
  }
  // A tensor of the count before is none of this one's.
  const AllocationCount again;
  outlives = Tensor();
  EXPECT_EQ(again.now(), 0);
}

TEST(AllocationCount, PutsBackTheAllocatorThatWasThere) {
  std::optional<AllocationCount> count(std::in_place);
  count.reset();
  const Tensor after = Empty({7}, kFloat);
  const AllocationCount next;
  EXPECT_EQ(next.now(), 0);
}

}  // namespace
}  // namespace tandem::tensor
