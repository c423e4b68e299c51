// A device computes tensors: the processor, or a GPU that a back end drives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/core/device.h"
#include "tensor/core/device_memory.h"  // MovedTo, OnCpu

namespace tandem::tensor {

// The CUDA support of the back end and of this machine.
struct CudaState {
  bool built = false;   // whether the back end was built with TANDEM_WITH_CUDA
  int devices = 0;      // that this process sees
  std::string problem;  // why there are none, as the back end says it; "" where it says nothing
};

// Asks the back end, which is loaded where it is not yet, and the driver, which takes a moment.
// Throws UsageError where there is no back end (core/back_end/device_functions.h).
CudaState FindCuda();

// A device by its name in recipes and flags: "cpu", "cuda" or "cuda:N", N from 0. "cuda" is the
// device whose number is `local_rank`, this process's among those of its machine, or the only
// device that the process sees, as where Slurm gives each task its own. Throws UsageError for
// another name, for CUDA in a build without it or on a machine without a device, saying which of
// the two, and for a number that no device has.
Device ResolveDevice(std::string_view name, int local_rank, const CudaState& cuda);

// ResolveDevice with FindCuda, asked where the name needs it, and the local rank of this process's
// launch (base/process/launch.h). A CUDA device becomes the back end's current one.
Device UseDevice(std::string_view name);

// The first number of a CUDA device's compute capability: 8 from Ampere on. Throws std::logic_error
// for another device.
int ComputeCapability(Device device);

// Bytes of a device's memory; all 0 for the CPU.
struct DeviceMemory {
  uint64_t total = 0;
  uint64_t used = 0;       // by tensors of this process, now
  uint64_t most_used = 0;  // the most since ForgetMostUsed, or since the process began
};
DeviceMemory MemoryOf(Device device);
void ForgetMostUsed(Device device);

// "cpu" or "cuda:0".
std::string DeviceName(Device device);

// The library that computes on devices, with its version: "libtorch 2.6.0". Asks the back end, as
// FindCuda does.
std::string DeviceLibrary();

// Says whether TANDEM_FORMS=portable asks for the forms of operations, objectives and optimizers
// that a device takes, on the CPU too, so that tests can run them without a device.
bool DeviceFormsForced();

}  // namespace tandem::tensor
