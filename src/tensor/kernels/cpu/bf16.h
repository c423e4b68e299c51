// bfloat16 as the kernels see it: the upper half of a float.
#pragma once

#include <cstdint>

namespace tandem::tensor::cpu {

struct Bf16 {
  uint16_t bits;
};

}  // namespace tandem::tensor::cpu
