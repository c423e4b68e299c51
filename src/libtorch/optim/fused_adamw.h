// libtorch's AdamW, which makes one pass over memory on a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace tandem::libtorch {

// Says whether this version of libtorch has it for tensors of the device: of CUDA from 2.0 on, of
// the CPU from 2.4 on.
bool HasFusedAdamW(const at::Device& device);

// Contiguous float32 tensors; those of one place in the lists belong together.
struct FusedLists {
  std::vector<at::Tensor> values, gradients, first, second;
};

struct FusedStep {
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  double learning_rate;
  double gradient_scale;
  int64_t step;  // from 1
};

// The update of moments.h, of which libtorch's has the same formula. Overwrites the gradients with
// the scaled ones where `gradient_scale` is not 1. All tensors are on one device. Throws
// std::logic_error where HasFusedAdamW is false.
void FusedAdamW(FusedLists& lists, const FusedStep& step);

}  // namespace tandem::libtorch
