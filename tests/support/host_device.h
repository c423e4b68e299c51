// A device of tests: its memory is the processor's, but tensors there say that it is not, so that
// whoever reads it through Tensor::data_ptr<T> fails, as on a GPU. Its back end computes with
// core's functions, and with operations in their reference form.
#pragma once

#include <cstdint>

#include "tensor/core/device.h"

namespace tandem {

inline constexpr tensor::Device kHostDevice = {tensor::Device::Kind::kCuda, 0};

// Makes its back end this process's. There must be no other one. May be called again.
void UseHostDevice();

// How often this process has copied something from there to the processor, for which the processor
// would wait.
int64_t CopiesFromHostDevice();

}  // namespace tandem
