#include "index/exact/row_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tandem::index {
namespace {

// Four sums, so that an addition need not wait for the one before.
template <typename Value>
double LengthOf(size_t count, Value&& value) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t s = 0; s < 4; ++s) {
      const double v = value(i + s);
      sums[s] += v * v;
    }
  }
  for (; i < count; ++i) {
    const double v = value(i);
    sums[0] += v * v;
  }
  return std::sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// Rounds to nearest, for |value| < 2^22: the sum has no bits for a fraction.
float RoundToInteger(float value) {
  constexpr float kNoFraction = 0x1.8p23F;
  return (value + kNoFraction) - kNoFraction;
}

}  // namespace

double RowLength(const float* row, size_t width) {
  return LengthOf(width, [row](size_t i) { return static_cast<double>(row[i]); });
}

RowCode EncodeRow(const float* row, size_t width, size_t padded, int8_t* codes) {
  constexpr float kLargest = 127;
  std::fill(codes, codes + padded, int8_t{0});
  float largest = 0;
  for (size_t i = 0; i < width; ++i) largest = std::max(largest, std::fabs(row[i]));
  if (largest == 0) return {};
  RowCode code{.scale = std::max(largest / kLargest, std::numeric_limits<float>::min())};
  const float inverse = 1 / code.scale;
  for (size_t i = 0; i < width; ++i) {
    codes[i] =
        static_cast<int8_t>(std::clamp(RoundToInteger(row[i] * inverse), -kLargest, kLargest));
  }
  code.length = LengthOf(width, [codes](size_t i) { return static_cast<double>(codes[i]); });
  const double scale = code.scale;
  code.residual = LengthOf(width, [&](size_t i) { return row[i] / scale - codes[i]; });
  return code;
}

double RoundRow(const float* row, size_t width, size_t padded, tensor::cpu::Bf16* rounded) {
  constexpr uint32_t kSign = 0x80000000, kInfinity = 0x7F800000, kLargest = 0x7F7F0000;
  std::fill(rounded, rounded + padded, tensor::cpu::Bf16{0});
  for (size_t i = 0; i < width; ++i) {
    const auto bits = std::bit_cast<uint32_t>(row[i]);
    uint32_t magnitude = bits & ~kSign;
    magnitude += 0x7FFF + (magnitude >> 16 & 1);  // ties to even
    if (magnitude >= kInfinity) magnitude = kLargest;
    rounded[i].bits = static_cast<uint16_t>(((bits & kSign) | magnitude) >> 16);
  }
  return LengthOf(width, [&](size_t i) {
    return static_cast<double>(row[i]) - std::bit_cast<float>(uint32_t{rounded[i].bits} << 16);
  });
}

}  // namespace tandem::index
