#include "tensor/core/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tensor/core/dtype.h"

namespace tandem::tensor {
namespace {

TEST(Half, EveryNumberIsItselfAgain) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto short_bits = static_cast<uint16_t>(bits);
    const float half = FloatOf(Half{short_bits}), bf16 = FloatOf(Bf16{short_bits});
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(FloatOf(HalfOf(half))));
    } else {
      EXPECT_EQ(HalfOf(half).bits, short_bits);
    }
    if (std::isnan(bf16)) {
      EXPECT_TRUE(std::isnan(FloatOf(Bf16Of(bf16))));
    } else {
      EXPECT_EQ(Bf16Of(bf16).bits, short_bits);
    }
  }
}

TEST(Half, IsRoundedToTheNearestAndTiesToEven) {
  EXPECT_EQ(HalfOf(1.0F + 0x1p-11F).bits, 0x3c00);  // a tie, down to even
  EXPECT_EQ(HalfOf(1.0F + 0x1p-11F + 0x1p-20F).bits, 0x3c01);
  EXPECT_EQ(HalfOf(1.0F + 3 * 0x1p-11F).bits, 0x3c02);  // a tie, up to even
  EXPECT_EQ(HalfOf(65519.0F).bits, 0x7bff);
  EXPECT_EQ(HalfOf(65520.0F).bits, 0x7c00);  // infinity
  EXPECT_EQ(HalfOf(-1e30F).bits, 0xfc00);
  EXPECT_EQ(HalfOf(0x1p-25F).bits, 0x0000);  // a tie of the smallest number
  EXPECT_EQ(HalfOf(3 * 0x1p-25F).bits, 0x0002);
  EXPECT_EQ(HalfOf(0x1.ffcp-15F + 0x1p-25F).bits, 0x0400);  // the smallest normal number
  EXPECT_EQ(HalfOf(-0.0F).bits, 0x8000);
  EXPECT_EQ(Bf16Of(1.0F + 0x1p-8F).bits, 0x3f80);
  EXPECT_EQ(Bf16Of(1.0F + 3 * 0x1p-8F).bits, 0x3f82);
  EXPECT_EQ(Bf16Of(std::numeric_limits<float>::max()).bits, 0x7f80);
  // The payload is in the bits that are dropped.
  EXPECT_TRUE(std::isnan(FloatOf(Bf16Of(std::bit_cast<float>(0x7f800001U)))));
}

TEST(DType, HasSizesAndNames) {
  EXPECT_EQ(ElementSize(kFloat), 4U);
  EXPECT_EQ(ElementSize(kDouble), 8U);
  EXPECT_EQ(ElementSize(kBFloat16), 2U);
  EXPECT_EQ(ElementSize(kHalf), 2U);
  EXPECT_EQ(ElementSize(kLong), 8U);
  EXPECT_EQ(ElementSize(kInt), 4U);
  EXPECT_EQ(ElementSize(kByte), 1U);
  EXPECT_EQ(ElementSize(kBool), 1U);
  EXPECT_EQ(Name(kBFloat16), "bfloat16");
  EXPECT_TRUE(IsFloating(kHalf));
  EXPECT_FALSE(IsFloating(kLong));
  EXPECT_EQ(kTypeOf<int32_t>, kInt);
}

}  // namespace
}  // namespace tandem::tensor
