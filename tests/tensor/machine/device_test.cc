#include "tensor/machine/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/error.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/machine/device_driver.h"
#include "tensor/machine/fake_driver.h"

namespace tandem::tensor {
namespace {

using testing::HasSubstr;

constexpr int kFirst = 0;  // process of a machine

Device Cuda(int index) { return {Device::Kind::kCuda, index}; }

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
  EXPECT_EQ(ResolveDevice("cpu", 3, CudaState()), kCpuDevice);
  EXPECT_EQ(UseDevice("cpu"), kCpuDevice);
}

// In a process of its own: a driver that was set stays.
TEST(Device, WithoutABackEndCudaNamesThePlugIn) {
  if (LoadedBackEndDriver() != nullptr) GTEST_SKIP() << "another test has set a driver";
  for (const char* name : {"cuda", "cuda:1"}) {
    try {
      UseDevice(name);
      FAIL() << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                "device is " + std::string(name) +
                    ", which needs a back end that is built with CUDA, but the plug-in "
                    "libtandem-torch.so is not there; build it with -DTANDEM_WITH_CUDA=ON "
                    "(docs/building.md), or use device cpu");
    }
  }
  EXPECT_EQ(MemoryOf(kCpuDevice).total, 0U);
  ForgetMostUsed(kCpuDevice);
  EXPECT_THROW(ComputeCapability(kCpuDevice), std::logic_error);
}

TEST(Device, ABackEndThatDoesNotLoadIsAskedForWithCuda) {
  if (LoadedBackEndDriver() != nullptr) GTEST_SKIP() << "another test has set a driver";
  SetBackEndLoader([] { throw UsageError("it is broken"); });
  try {
    UseDevice("cuda");
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "device is cuda, which needs a back end that is built with -DTANDEM_WITH_CUDA=ON "
                 "(docs/building.md): it is broken");
  }
  SetBackEndLoader(nullptr);
}

TEST(Device, TheDriverOfTheBackEndAnswersForItsDevices) {
  FakeDriver& driver = FakeDriver::Set();
  EXPECT_EQ(FindCuda().devices, 2);
  EXPECT_EQ(UseDevice("cuda:1"), Cuda(1));
  EXPECT_EQ(driver.current, Cuda(1));
  EXPECT_THROW(UseDevice("cuda:2"), UsageError);
  EXPECT_EQ(ComputeCapability(Cuda(0)), 7);
  EXPECT_EQ(ComputeCapability(Cuda(1)), 9);
  EXPECT_EQ(MemoryOf(Cuda(1)).most_used, 3U);
  ForgetMostUsed(Cuda(1));
  EXPECT_EQ(MemoryOf(Cuda(1)).most_used, 2U);
  EXPECT_EQ(DeviceLibrary(), "a fake 1.0");
}

TEST(Device, ANumberNamesADevice) {
  EXPECT_EQ(ResolveDevice("cuda:1", kFirst, Devices(2)), Cuda(1));
  EXPECT_EQ(ResolveDevice("cuda:0", 1, Devices(2)), Cuda(0));
  EXPECT_EQ(DeviceName(ResolveDevice("cuda:1", kFirst, Devices(2))), "cuda:1");
}

TEST(Device, EachProcessOfAMachineTakesItsOwn) {
  EXPECT_EQ(ResolveDevice("cuda", 0, Devices(4)), Cuda(0));
  EXPECT_EQ(ResolveDevice("cuda", 3, Devices(4)), Cuda(3));
}

// Slurm's --gpus-per-task=1 does this.
TEST(Device, AProcessThatSeesOneDeviceTakesIt) {
  EXPECT_EQ(ResolveDevice("cuda", 3, Devices(1)), Cuda(0));
}

TEST(Device, ABuildWithoutCudaSaysSo) {
  const std::string message = MessageOf("cuda", kFirst, CudaState());
  EXPECT_THAT(message, HasSubstr("device is cuda"));
  EXPECT_THAT(message, HasSubstr("the back end libtandem-torch.so is built without CUDA"));
  EXPECT_THAT(message, HasSubstr("-DTANDEM_WITH_CUDA=ON"));
  EXPECT_THAT(MessageOf("cuda:1", kFirst, CudaState()), HasSubstr("built without CUDA"));
}

TEST(Device, AMachineWithoutADeviceSaysSo) {
  const CudaState none{.built = true, .devices = 0, .problem = "Found no NVIDIA driver"};
  const std::string message = MessageOf("cuda", kFirst, none);
  EXPECT_THAT(message, HasSubstr("the back end libtandem-torch.so is built with CUDA"));
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
