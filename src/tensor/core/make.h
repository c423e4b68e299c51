// New tensors.
#pragma once

#include <cstdint>
#include <memory>

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// On the processor, memory of CurrentAllocator (core/allocator.h), and where no device is named; on
// another device, that of the back end (core/back_end/device_functions.h). All throw MemoryError
// (base/error.h) where there is too little.
Tensor Empty(const Shape& shape, DType type, Device device = kCpuDevice);  // uninitialised
Tensor Zeros(const Shape& shape, DType type, Device device = kCpuDevice);
Tensor Full(const Shape& shape, double value, DType type, Device device = kCpuDevice);
// 0, 1, ..., count - 1, [count]. Throws std::logic_error for a type that has no numbers.
Tensor Arange(int64_t count, DType type);

// Of the shape, type and device of `like`, without its gradient.
Tensor EmptyLike(const Tensor& like);
Tensor ZerosLike(const Tensor& like);

// Elements of someone else, at any alignment, that are not copied. They live while `owner` is held;
// a null owner means that the caller sees to it. What is mapped to be read only must not be
// written.
Tensor FromBlob(void* data, const Shape& shape, DType type,
                std::shared_ptr<const void> owner = nullptr);
// The same in a device's memory. A deleter of `owner` gives it back.
Tensor FromDevice(void* data, const Shape& shape, DType type, Device device,
                  std::shared_ptr<const void> owner);

}  // namespace tandem::tensor
