// What libtorch knows of GPUs, and sets for them.
#pragma once

#include <string>

#include "tensor/machine/device_driver.h"

namespace tandem::libtorch {

// Without CUDA in the build there are no devices, and members that take one throw std::logic_error.
class Driver : public tensor::DeviceDriver {
 public:
  tensor::CudaState FindCuda() const override;
  void MakeCurrent(tensor::Device device) const override;
  int ComputeCapability(tensor::Device device) const override;
  tensor::DeviceMemory MemoryOf(tensor::Device device) const override;
  void ForgetMostUsed(tensor::Device device) const override;
  void AllowTf32(bool allowed) const override;
  // "libtorch 2.6.0"
  std::string Library() const override;
};

}  // namespace tandem::libtorch
