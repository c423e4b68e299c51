// Tandem's tensors as libtorch's, and back. Both see the same memory.
//
// Memory has one owner on either side: a tensor that goes over the bridge and comes back has the
// storage that it went with, so that who asks whether a storage is held by others (backward passes
// do) gets the right answer. A write on the one side is seen on the other, but counts in the
// version (Tensor::version) of libtorch's tensor alone: who writes calls bump_version.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::libtorch {

// The memory of `x`, kept alive, as a tensor without history; undefined for an undefined one.
at::Tensor AsTorch(const tensor::Tensor& x);
// The elements of a dense `x` of at most four dimensions, without history: its own memory, kept
// alive, where it is contiguous, else a copy. Undefined for an undefined one. No other thread may
// use the storage of `x` meanwhile. Throws std::logic_error for a type or a device that Tandem has
// not, and for a sparse tensor.
tensor::Tensor FromTorch(const at::Tensor& x);

// All of them.
std::vector<at::Tensor> AsTorch(const std::vector<tensor::Tensor>& tensors);

// `x` on `device`, itself where it is there. The host does not wait for a copy to a GPU.
at::Tensor TorchMovedTo(const at::Tensor& x, at::Device device);

at::ScalarType TorchType(tensor::DType type);
at::Device TorchDevice(tensor::Device device);
// Throw std::logic_error for a type or a device that Tandem has not.
tensor::DType TypeOf(at::ScalarType type);
tensor::Device DeviceOf(at::Device device);

}  // namespace tandem::libtorch
