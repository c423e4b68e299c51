// Values of tests of kernels, in the types that activations have.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor::cpu {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// Quiet and signalling ones, with low bits set and not.
inline constexpr uint32_t kNanBits[] = {0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7FC10101,
                                        0x7FFFFFFF, 0x7F800001, 0x7F810000, 0xFF900000};

template <typename A>
A FromBits(uint32_t bits) {
  if constexpr (std::is_same_v<A, float>) {
    return std::bit_cast<float>(bits);
  } else {
    const auto half = static_cast<uint16_t>(bits >> 16 | (bits & 0xFFFF ? 1 : 0));
    return std::bit_cast<Bf16>(half);
  }
}

template <typename A>
A From(float value) {
  return FromBits<A>(std::bit_cast<uint32_t>(value) & (sizeof(A) == 4 ? ~0U : 0xFFFF0000U));
}

template <typename A>
float Value(A value) {
  if constexpr (std::is_same_v<A, float>) {
    return value;
  } else {
    return std::bit_cast<float>(uint32_t{std::bit_cast<uint16_t>(value)} << 16);
  }
}

// Half a unit of the last of 24 or 8 bits, relative to the value.
template <typename A>
inline constexpr double kRounding = sizeof(A) == 4 ? 0x1p-24 : 0x1p-8;

}  // namespace tandem::tensor::cpu
