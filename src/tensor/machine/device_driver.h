// What a back end knows of its devices, and sets for them: the functions of machine/device.h and
// ApplyPrecision of machine/precision.h that need it.
#pragma once

#include <string>

#include "tensor/core/device.h"
#include "tensor/machine/device.h"

namespace tandem::tensor {

// Devices that members take are CUDA devices which FindCuda counts. Members mean what the functions
// of the same names mean.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;

  virtual CudaState FindCuda() const = 0;
  // Makes it the one that this thread's work goes to.
  virtual void MakeCurrent(Device device) const = 0;
  virtual int ComputeCapability(Device device) const = 0;
  virtual DeviceMemory MemoryOf(Device device) const = 0;
  virtual void ForgetMostUsed(Device device) const = 0;
  // DeviceLibrary of machine/device.h.
  virtual std::string Library() const = 0;
  // Lets products on devices round to TF32 or not, for the whole process.
  virtual void AllowTf32(bool allowed) const = 0;
};

// That of the back end, which is loaded where it is not yet (LoadBackEnd in
// core/back_end/device_functions.h). Throws UsageError where it cannot be loaded.
const DeviceDriver& BackEndDriver();
// Must outlive all tensors of its devices.
void SetBackEndDriver(const DeviceDriver& driver);
// The one that is set; null: none is. Loads nothing.
const DeviceDriver* LoadedBackEndDriver();

}  // namespace tandem::tensor
