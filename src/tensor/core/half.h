// Numbers of 16 bits, and how they become floats and are made of them.
#pragma once

#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor {

// IEEE half precision.
struct Half {
  uint16_t bits;
};

// Exact.
float FloatOf(Half value);
float FloatOf(cpu::Bf16 value);

// Rounded to the nearest number, of two equally near ones to the even one. What is too large
// becomes infinite. A NaN stays one, though its payload may change.
Half HalfOf(float value);
cpu::Bf16 Bf16Of(float value);

}  // namespace tandem::tensor
