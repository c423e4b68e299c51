// The device that tests of a back end compute on.
#pragma once

#include "tensor/core/device.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/tensor.h"

namespace tandem {

// What TANDEM_TEST_DEVICE (environment) names: cpu, cuda or cuda:N; the processor without it. It
// becomes the back end's current device, so that there must be a back end for another one than the
// processor. Where the device is not there, the program ends, with exit code 77 if
// TANDEM_TEST_DEVICE_MAY_BE_MISSING is set: ctest counts the test as skipped.
tensor::Device TestDevice();

// `x` on that device, as a leaf that wants a gradient where x is one.
inline tensor::Tensor OnTestDevice(const tensor::Tensor& x) {
  if (!x.defined() || x.device() == TestDevice()) return x;
  const tensor::Tensor moved = tensor::MovedTo(x.detach(), TestDevice());
  if (x.requires_grad()) moved.set_requires_grad(true);
  return moved;
}

}  // namespace tandem
