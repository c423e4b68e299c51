// Numbers of 16 bits, and how they become floats and are made of them.
#pragma once

#include <bit>
#include <cstdint>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor {

// IEEE half precision.
struct Half {
  uint16_t bits;
};

// Exact.
float FloatOf(Half value);
inline float FloatOf(cpu::Bf16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

// Rounded to the nearest number, of two equally near ones to the even one. What is too large
// becomes infinite. A NaN stays one, though its payload may change.
Half HalfOf(float value);
inline cpu::Bf16 Bf16Of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U);
  return {static_cast<uint16_t>((is_nan ? bits | 0x400000U : rounded) >> 16)};
}

}  // namespace tandem::tensor
