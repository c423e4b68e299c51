// Rounds rows of numbers to eight bits, as int8_products.h defines it. Included once per target by
// int8_products.cc.
#if defined(TANDEM_TENSOR_INT8_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_INT8_ROWS_INL_H_
#undef TANDEM_TENSOR_INT8_ROWS_INL_H_
#else
#define TANDEM_TENSOR_INT8_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVec = hn::Vec<IntTag>;

// Numbers that span less count as zeros: the inverse of their scale could be more than a float
// holds.
inline constexpr float kLeastSpan = 1e-30F;

// The least and the greatest number of a row and 0.
struct Span {
  float low;
  float high;
  bool finite;
};

template <typename A>
HWY_INLINE Span SpanOf(const A* x, size_t depth) {
  const FloatTag d;
  const auto zero = hn::Zero(d);
  auto low = zero, high = zero, never = zero;  // never: 0, or NaN once a number is not finite
  for (size_t k = 0; k < depth; k += hn::Lanes(d)) {
    const auto v = LoadFloat(d, x + k);
    low = hn::Min(low, v);
    high = hn::Max(high, v);
    never = hn::MulAdd(v, zero, never);
  }
  return {hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high)),
          hn::GetLane(hn::SumOfLanes(d, never)) == 0};
}

HWY_INLINE int32_t Nearest(float v) { return hn::GetLane(hn::NearestInt(hn::Set(FloatTag(), v))); }

// The grid of a row: a number is about scale * (nearest(number * inverse)).
struct RowGrid {
  float scale = 0;
  float inverse = 0;
  int32_t zero = 0;  // the code in which 0 is stored
};

// 256 values from low to high, one of which is 0.
HWY_INLINE RowGrid GridOf(const Span& of) {
  const float span = of.high - of.low;
  if (!of.finite || span > std::numeric_limits<float>::max()) {
    return {std::numeric_limits<float>::quiet_NaN(), 0, 0};
  }
  if (span < kLeastSpan) return {};
  const float inverse = 255.0F / span;
  return {span / 255.0F, inverse, Nearest(-of.low * inverse)};
}

// The values of a row without their zero, -255 to 255, for kWiden.
struct SignedWords {
  using Value = int16_t;
  static HWY_INLINE void Store(IntVec v, int32_t /*zero*/, int16_t* to) {
    const hn::Rebind<int16_t, IntTag> d16;
    hn::StoreU(hn::DemoteTo(d16, v), d16, to);
  }
};
// The values with it, 0 to 255.
struct UnsignedBytes {
  using Value = uint8_t;
  static HWY_INLINE void Store(IntVec v, int32_t zero, uint8_t* to) {
    const hn::Rebind<uint8_t, IntTag> d8;
    const auto moved = hn::Add(v, hn::Set(IntTag(), zero));
    hn::StoreU(hn::U8FromU32(hn::BitCast(WordTag(), moved)), d8, to);
  }
};

// Rounds a row and fills it up to `padded` values with zeros.
template <typename Values, typename A>
HWY_INLINE RowGrid RoundRow(const A* x, size_t depth, size_t padded, typename Values::Value* to) {
  const FloatTag d;
  const RowGrid grid = GridOf(SpanOf(x, depth));
  if (grid.inverse == 0) {
    std::fill_n(to, padded, typename Values::Value{0});
    return grid;
  }
  const auto inverse = hn::Set(d, grid.inverse);
  const auto most = hn::Set(IntTag(), 255 - grid.zero);  // both ends may round up
  for (size_t k = 0; k < depth; k += hn::Lanes(d)) {
    const auto nearest = hn::NearestInt(hn::Mul(LoadFloat(d, x + k), inverse));
    Values::Store(hn::Min(nearest, most), grid.zero, to + k);
  }
  std::fill(to + depth, to + padded, typename Values::Value{0});
  return grid;
}

// Rounds a column of B, which lies in a row, to -127 .. 127. Returns its scale.
HWY_INLINE float RoundColumn(const float* column, size_t depth, int8_t* to) {
  const FloatTag d;
  const hn::Rebind<int8_t, IntTag> d8;
  const Span span = SpanOf(column, depth);
  const float most = std::max(span.high, -span.low);
  if (!span.finite || most < kLeastSpan) {
    std::fill_n(to, depth, int8_t{0});
    return span.finite ? 0.0F : std::numeric_limits<float>::quiet_NaN();
  }
  const auto inverse = hn::Set(d, 127.0F / most);
  for (size_t k = 0; k < depth; k += hn::Lanes(d)) {
    hn::StoreU(hn::DemoteTo(d8, hn::NearestInt(hn::Mul(hn::LoadU(d, column + k), inverse))), d8,
               to + k);
  }
  return most / 127.0F;
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
