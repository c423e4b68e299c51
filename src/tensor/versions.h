// Says whether tensors have changed since a copy of them was made.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/dropout.h"

namespace tandem::tensor {

// Changes whenever any of the tensors was written to or got other memory (Tensor::set_data); never
// 0.
inline uint64_t VersionOf(const std::vector<Tensor>& tensors) {
  uint64_t version = 1;
  for (const Tensor& tensor : tensors) {
    const auto address = std::bit_cast<uintptr_t>(tensor.data_ptr());
    version = MixBits(MixBits(version + uint64_t{address}) + tensor.version());
  }
  return version == 0 ? 1 : version;
}

}  // namespace tandem::tensor
