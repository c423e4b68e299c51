#include "tensor/core/half.h"

#include <bit>
#include <cmath>

#include "base/half.h"

namespace tandem::tensor {
namespace {

constexpr uint32_t kSignBit = 0x80000000U;

// The bits above the lowest `dropped` ones, rounded.
uint32_t RoundedShift(uint32_t bits, int dropped) {
  const uint32_t half = (uint32_t{1} << (dropped - 1)) - 1;
  return (bits + half + ((bits >> dropped) & 1U)) >> dropped;
}

}  // namespace

float FloatOf(Half value) { return FloatFromHalf(value.bits); }

Half HalfOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits & kSignBit) >> 16);
  const uint32_t magnitude = bits & ~kSignBit;
  uint32_t rounded = 0x7c00;  // infinity
  if (magnitude > 0x7f800000U) {
    rounded = 0x7e00;                    // NaN
  } else if (magnitude < 0x38800000U) {  // below 2^-14: subnormal
    // nearbyint rounds ties to even, and the product is exact.
    rounded = static_cast<uint32_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24F));
  } else if (magnitude < 0x47800000U) {                   // below 2^16
    rounded = RoundedShift(magnitude - 0x38000000U, 13);  // may round up to infinity
  }
  return {static_cast<uint16_t>(sign | rounded)};
}

}  // namespace tandem::tensor
