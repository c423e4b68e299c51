#include "libtorch/dist/nccl_group.h"

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "libtorch/dist/launches.h"
#include "support/tensors.h"
#include "tensor/core/device_memory.h"

namespace tandem::libtorch {
namespace {

using dist::ProcessGroup;
using dist::RunRanks;
using tensor::Full;
using tensor::kFloat;
using tensor::OnCpu;
using tensor::Tensor;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StrEq;

tensor::Device Gpu(int index) { return {.kind = tensor::Device::Kind::kCuda, .index = index}; }

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
  const auto errors =
      RunRanks(2, [](ProcessGroup& group) { group.AllGather(Full({2}, 1, kFloat, Gpu(0))); });
  EXPECT_THAT(errors, Each(HasSubstr("ranks 0 and 1 have the same GPU")));
}

TEST(NcclGroupTest, ExchangesBetweenGpus) {
  if (!HasGpus(2)) GTEST_SKIP() << "this machine has fewer than two GPUs";
  const auto errors = RunRanks(2, [](ProcessGroup& group) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(group.rank()));
    const tensor::Device here = Gpu(group.rank());
    const Tensor all = group.AllGather(Full({2, 3}, group.rank(), kFloat, here));
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_TRUE(AreEqual(OnCpu(all[rank]), Full({2, 3}, rank, kFloat)));
    }
    const Tensor sum = Full({1000}, group.rank() + 1, kFloat, here);
    const auto pending = group.AddUp(sum);
    pending->Wait();
    EXPECT_TRUE(AreEqual(OnCpu(sum), Full({1000}, 3, kFloat)));
    const double first = 10.0 * group.rank();
    const Tensor from = tensor::MovedTo(MakeTensor({2, 1}, {first, first + 1}), here);
    const double own = group.rank();
    EXPECT_TRUE(AreEqual(OnCpu(group.AllToAll(from)), MakeTensor({2, 1}, {own, 10 + own})));
    const Tensor number = Full({2}, group.rank() + 5, kFloat, here);
    group.Broadcast(number);
    EXPECT_TRUE(AreEqual(OnCpu(number), Full({2}, 5, kFloat)));
    // The host's memory goes by Gloo beside it.
    EXPECT_EQ(group.Largest(group.rank()), 1);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace tandem::libtorch
