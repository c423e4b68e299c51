#include "weights/safetensors/dtype.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/half.h"

namespace tandem::weights {
namespace {

// Follows the formats' definitions, for every bit pattern.
double Value(uint32_t bits, int exponent_bits, int fraction_bits) {
  const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  const uint32_t exponent = (bits >> fraction_bits) & ((1u << exponent_bits) - 1);
  const bool negative = (bits >> (exponent_bits + fraction_bits)) != 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  double value;
  if (exponent == (1u << exponent_bits) - 1) {
    value = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(fraction + (1u << fraction_bits),
                       static_cast<int>(exponent) - bias - fraction_bits);
  }
  return negative ? -value : value;
}

void ExpectSame(float got, double wanted, uint32_t bits) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << bits;
  } else {
    EXPECT_EQ(static_cast<double>(got), wanted) << bits;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << bits;
  }
}

TEST(Dtype, EveryHalfIsItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ExpectSame(FloatFromHalf(static_cast<uint16_t>(bits)), Value(bits, 5, 10), bits);
  }
}

TEST(Dtype, EveryBfloat16IsItsValue) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    ExpectSame(FloatFromBfloat16(static_cast<uint16_t>(bits)), Value(bits, 8, 7), bits);
  }
}

TEST(Dtype, NamesReadBack) {
  for (int i = 0; i <= static_cast<int>(Dtype::kU64); ++i) {
    const auto dtype = static_cast<Dtype>(i);
    EXPECT_EQ(DtypeFromName(DtypeName(dtype)), dtype);
  }
  EXPECT_EQ(DtypeFromName("F31"), std::nullopt);
  EXPECT_EQ(DtypeBits(Dtype::kBF16), 16u);
  EXPECT_EQ(DtypeBits(Dtype::kI64), 64u);
}

}  // namespace
}  // namespace tandem::weights
