// Moves tensors between the processor's memory and that of devices.
#pragma once

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// A copy of x on `device`; x itself where it is there; undefined where x is. Gradients flow through
// it, back to the device of x. Throws MemoryError (base/error.h) where the device has too little
// memory, and UsageError where there is no back end for it (core/back_end/device_functions.h).
Tensor MovedTo(const Tensor& x, Device device);
// The same to the processor. What was computed for x is complete then.
Tensor OnCpu(const Tensor& x);

}  // namespace tandem::tensor
