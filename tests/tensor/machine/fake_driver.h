// The driver of a back end with two devices, cuda:0 of compute capability 7 and cuda:1 of 9.
#pragma once

#include <string>

#include "tensor/machine/device_driver.h"

namespace tandem::tensor {

class FakeDriver final : public DeviceDriver {
 public:
  // The one of this process, which becomes the back end's.
  static FakeDriver& Set() {
    static FakeDriver driver;
    SetBackEndDriver(driver);
    return driver;
  }

  CudaState FindCuda() const override { return {.built = true, .devices = 2}; }
  void MakeCurrent(Device device) const override { current = device; }
  int ComputeCapability(Device device) const override { return device.index == 0 ? 7 : 9; }
  DeviceMemory MemoryOf(Device /*device*/) const override {
    return {.total = 4, .used = 2, .most_used = most_used};
  }
  void ForgetMostUsed(Device /*device*/) const override { most_used = 2; }
  std::string Library() const override { return "a fake 1.0"; }
  void AllowTf32(bool allowed) const override { tf32 = allowed; }

  mutable Device current;
  mutable uint64_t most_used = 3;
  mutable bool tf32 = false;
};

}  // namespace tandem::tensor
