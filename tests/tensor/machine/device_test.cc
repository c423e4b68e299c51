#include "tensor/machine/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/error.h"

namespace tandem::tensor {
namespace {

using testing::HasSubstr;

constexpr int kFirst = 0;  // process of a machine

CudaState Devices(int count) { return {.built = true, .devices = count}; }

std::string MessageOf(std::string_view name, int local_rank, const CudaState& cuda) {
  try {
    ResolveDevice(name, local_rank, cuda);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(Device, CpuNeedsNoCuda) {
  EXPECT_EQ(ResolveDevice("cpu", 3, CudaState()), c10::Device(c10::kCPU));
  EXPECT_EQ(UseDevice("cpu"), c10::Device(c10::kCPU));
}

TEST(Device, ANumberNamesADevice) {
  EXPECT_EQ(ResolveDevice("cuda:1", kFirst, Devices(2)), c10::Device(c10::kCUDA, 1));
  EXPECT_EQ(ResolveDevice("cuda:0", 1, Devices(2)), c10::Device(c10::kCUDA, 0));
  EXPECT_EQ(DeviceName(ResolveDevice("cuda:1", kFirst, Devices(2))), "cuda:1");
}

TEST(Device, EachProcessOfAMachineTakesItsOwn) {
  EXPECT_EQ(ResolveDevice("cuda", 0, Devices(4)), c10::Device(c10::kCUDA, 0));
  EXPECT_EQ(ResolveDevice("cuda", 3, Devices(4)), c10::Device(c10::kCUDA, 3));
}

// Slurm's --gpus-per-task=1 does this.
TEST(Device, AProcessThatSeesOneDeviceTakesIt) {
  EXPECT_EQ(ResolveDevice("cuda", 3, Devices(1)), c10::Device(c10::kCUDA, 0));
}

TEST(Device, ABuildWithoutCudaSaysSo) {
  const std::string message = MessageOf("cuda", kFirst, CudaState());
  EXPECT_THAT(message, HasSubstr("device is cuda"));
  EXPECT_THAT(message, HasSubstr("built without CUDA"));
  EXPECT_THAT(message, HasSubstr("-DTANDEM_WITH_CUDA=ON"));
  EXPECT_THAT(MessageOf("cuda:1", kFirst, CudaState()), HasSubstr("built without CUDA"));
}

TEST(Device, AMachineWithoutADeviceSaysSo) {
  const CudaState none{.built = true, .devices = 0, .problem = "Found no NVIDIA driver"};
  const std::string message = MessageOf("cuda", kFirst, none);
  EXPECT_THAT(message, HasSubstr("built with CUDA"));
  EXPECT_THAT(message, HasSubstr("this machine has no device"));
  EXPECT_THAT(message, HasSubstr(": Found no NVIDIA driver;"));
}

TEST(Device, ANumberThatNoDeviceHasNamesThoseThatThereAre) {
  EXPECT_EQ(MessageOf("cuda:7", kFirst, Devices(2)),
            "device is cuda:7, but this process sees 2 devices, cuda:0 to cuda:1");
  EXPECT_EQ(MessageOf("cuda:1", kFirst, Devices(1)),
            "device is cuda:1, but this process sees one device, cuda:0");
}

TEST(Device, MoreProcessesThanDevicesAreRefused) {
  EXPECT_THAT(MessageOf("cuda", 2, Devices(2)), HasSubstr("start at most 2 processes"));
}

TEST(Device, OtherNamesAreRefused) {
  for (const char* name : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda: 1",
                           "cuda:99999999999", "mps", "cpu:0"}) {
    EXPECT_THAT(MessageOf(name, kFirst, Devices(2)), HasSubstr("device is cpu, cuda or cuda:N"))
        << name;
  }
}

}  // namespace
}  // namespace tandem::tensor
