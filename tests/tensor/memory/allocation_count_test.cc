#include "tensor/memory/allocation_count.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <optional>

namespace tandem::tensor {
namespace {

TEST(AllocationCount, CountsLargeAndSmallTensorsToTheByte) {
  const at::Tensor before = at::empty({1000}, at::kFloat);
  at::Tensor outlives;
  {
    AllocationCount count;
    EXPECT_EQ(count.now(), 0);
    {
      const at::Tensor small = at::empty({3}, at::kFloat);
      const at::Tensor large = at::empty({1000, 1000}, at::kFloat);
      EXPECT_EQ(count.now(), 4'000'012);
      const at::Tensor view = large.narrow(0, 0, 10);
      EXPECT_EQ(count.now(), 4'000'012);
    }
    EXPECT_EQ(count.now(), 0);
    EXPECT_EQ(count.most(), 4'000'012);
    outlives = at::empty({5}, at::kDouble);
    count.ResetMost();
    EXPECT_EQ(count.most(), 40);
  }
  // A tensor of the count before is none of this one's.
  const AllocationCount again;
  outlives = at::Tensor();
  EXPECT_EQ(again.now(), 0);
}

TEST(AllocationCount, PutsBackTheAllocatorThatWasThere) {
  std::optional<AllocationCount> count(std::in_place);
  count.reset();
  const at::Tensor after = at::empty({7}, at::kFloat);
  const AllocationCount next;
  EXPECT_EQ(next.now(), 0);
}

}  // namespace
}  // namespace tandem::tensor
