#include "dist/nccl_group.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <c10/cuda/CUDAGuard.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "dist/ranks.h"

namespace tandem::dist {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StrEq;

bool HasGpus(int count) { return at::cuda::device_count() >= count; }

TEST(NcclGroupTest, SaysThatThereIsNoGpu) {
  if (HasGpus(1)) GTEST_SKIP() << "this machine has a GPU";
  try {
    MakeNccl(c10::make_intrusive<c10d::HashStore>(), 0, 2, std::chrono::seconds(10));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("no GPUs found"));
  }
}

TEST(NcclGroupTest, LeavesWhatTheUserHasSet) {
  setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1", 1);
  unsetenv("TORCH_NCCL_ENABLE_MONITORING");
  LeaveNcclErrorsToGroups();
  EXPECT_THAT(std::getenv("TORCH_NCCL_ASYNC_ERROR_HANDLING"), StrEq("1"));
  EXPECT_THAT(std::getenv("TORCH_NCCL_ENABLE_MONITORING"), StrEq("0"));
  unsetenv("TORCH_NCCL_ASYNC_ERROR_HANDLING");
  LeaveNcclErrorsToGroups();
  EXPECT_THAT(std::getenv("TORCH_NCCL_ASYNC_ERROR_HANDLING"), StrEq("0"));
}

TEST(NcclGroupTest, TwoRanksOnOneGpuAreAnError) {
  if (!HasGpus(1)) GTEST_SKIP() << "this machine has no GPU";
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    group.AllGather(at::full({2}, 1.0, at::TensorOptions(at::kFloat).device(at::kCUDA, 0)));
  });
  EXPECT_THAT(errors, Each(HasSubstr("ranks 0 and 1 have the same GPU")));
}

TEST(NcclGroupTest, ExchangesBetweenGpus) {
  if (!HasGpus(2)) GTEST_SKIP() << "this machine has fewer than two GPUs";
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(group.rank()));
    const at::TensorOptions here = at::TensorOptions(at::kFloat).device(at::kCUDA, group.rank());
    const at::Tensor all = group.AllGather(at::full({2, 3}, group.rank(), here));
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(all[rank].cpu().equal(at::full({2, 3}, rank, at::kFloat)));
    }
    const at::Tensor sum = at::full({1000}, group.rank() + 1, here);
    const auto pending = group.AddUp(sum);
    pending->Wait();
    EXPECT_TRUE(sum.cpu().equal(at::full({1000}, 3, at::kFloat)));
    const at::Tensor from = at::arange(2, here).add(10 * group.rank()).unsqueeze(1);
    EXPECT_TRUE(group.AllToAll(from).cpu().squeeze(1).equal(
        at::arange(2, at::kFloat).mul(10).add(group.rank())));
    const at::Tensor number = at::full({2}, group.rank() + 5, here);
    group.Broadcast(number);
    EXPECT_TRUE(number.cpu().equal(at::full({2}, 5, at::kFloat)));
    // The host's memory goes by Gloo beside it.
    EXPECT_EQ(group.Largest(group.rank()), 1);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::dist
