// Where a function of tensors is computed: for this library's own sources.
#pragma once

#include <initializer_list>
#include <span>

#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor::internal {

// The back end's functions for tensors of a device; null for tensors of the processor. Undefined
// tensors do not count; one at least is defined. Throws std::logic_error where they are in
// different places, and UsageError where the back end cannot be loaded.
const DeviceFunctions* FunctionsFor(const char* function,
                                    std::initializer_list<const Tensor*> tensors);
const DeviceFunctions* FunctionsFor(const char* function, std::span<const Tensor> tensors);

}  // namespace tandem::tensor::internal
