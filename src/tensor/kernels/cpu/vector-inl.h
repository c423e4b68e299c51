// Loads, stores and small functions of all vector kernels of this folder. Highway's foreach_target
// includes this file once per target, so that its include guard is not the usual one.
#if defined(TANDEM_TENSOR_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_VECTOR_INL_H_
#undef TANDEM_TENSOR_VECTOR_INL_H_
#else
#define TANDEM_TENSOR_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "tensor/dropout.h"
#include "tensor/kernels/cpu/bf16.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of [width] channels, `stride` elements apart.
template <typename A>
struct StridedRows {
  A* data;
  size_t stride;
  size_t width;
};

// Channel counts are multiples of 16; a vector never has more lanes than that.
using FloatTag = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<FloatTag>;
using WordTag = hn::RebindToUnsigned<FloatTag>;
using WordVec = hn::Vec<WordTag>;

HWY_INLINE FloatVec LoadFloat(FloatTag d, const float* HWY_RESTRICT from) {
  return hn::LoadU(d, from);
}

HWY_INLINE FloatVec LoadFloat(FloatTag d, const Bf16* HWY_RESTRICT from) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> d32;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

HWY_INLINE void StoreFloat(FloatVec v, FloatTag d, float* HWY_RESTRICT to) { hn::StoreU(v, d, to); }

// Rounds to bf16 by the instruction of AVX512-BF16: as StoreFloat below, except that numbers below
// 2^-126 become 0. No target here implies AVX512-BF16: the caller checks CurrentIsa().
#if HWY_TARGET <= HWY_AVX3
inline constexpr bool kMayRoundNatively = true;
HWY_INLINE void StoreRounded(FloatVec v, Bf16* to) {
  __m256i halves;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v.raw));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), halves);
}
// Returns the values that StoreRounded would store, as floats.
HWY_INLINE FloatVec RoundedToBf16(FloatVec v) {
  __m256i halves;
  __asm__("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v.raw));
  return FloatVec{_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16))};
}
// Rounds two vectors of 16 to 32 values, those of `low` first.
HWY_INLINE __m512i RoundedPair(FloatVec low, FloatVec high) {
  __m512i halves;
  __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(halves) : "v"(high.raw), "v"(low.raw));
  return halves;
}
HWY_INLINE void StoreRoundedPair(FloatVec low, FloatVec high, Bf16* to) {
  _mm512_storeu_si512(to, RoundedPair(low, high));
}
#else
inline constexpr bool kMayRoundNatively = false;
void StoreRounded(FloatVec v, Bf16* to);  // never called
#endif

// Rounds to nearest, ties to even; a NaN stays a NaN.
HWY_INLINE void StoreFloat(FloatVec v, FloatTag /*d*/, Bf16* HWY_RESTRICT to) {
  const hn::Rebind<uint16_t, FloatTag> d16;
  const hn::RebindToSigned<FloatTag> di;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40));
  const auto is_nan = hn::RebindMask(du, hn::IsNaN(v));
  const auto half = hn::BitCast(di, hn::IfThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(d16, half), d16, reinterpret_cast<uint16_t*>(to));
}

// Stores as float or bf16. kNativeBf16: by the instruction of AVX512-BF16.
template <bool kNativeBf16>
HWY_INLINE void StoreAs(FloatVec v, FloatTag d, float* HWY_RESTRICT to) {
  StoreFloat(v, d, to);
}
template <bool kNativeBf16>
HWY_INLINE void StoreAs(FloatVec v, FloatTag d, Bf16* HWY_RESTRICT to) {
  if constexpr (kNativeBf16 && kMayRoundNatively) {
    StoreRounded(v, to);
  } else {
    StoreFloat(v, d, to);
  }
}

// log2(e), for Exp2 of natural exponents.
inline constexpr float kLog2E = 1.44269504F;

// 2^f for f in [-1/2, 1/2], relative error below 8e-8, or for a result that is rounded to bf16
// below 3e-6: minimax polynomials, fitted in float64.
template <bool kForBf16>
HWY_INLINE FloatVec Exp2Fraction(FloatTag d, FloatVec f) {
  const auto step = [d, f](FloatVec sum, float coefficient)
                        HWY_ATTR { return hn::MulAdd(sum, f, hn::Set(d, coefficient)); };
  if constexpr (kForBf16) {
    auto sum = step(hn::Set(d, 0.0095701019F), 0.0559178603F);
    sum = step(step(sum, 0.2402474483F), 0.6931218147F);
    return step(sum, 0.9999992614F);
  }
  auto sum = step(hn::Set(d, 0.0001534581199F), 0.0013399931219F);
  sum = step(step(sum, 0.0096184889571F), 0.0555032877697F);
  sum = step(step(sum, 0.2402264689064F), 0.6931472057373F);
  return step(sum, 1.0000000005542F);
}

// 2^y for y from -100 to 100; undefined elsewhere.
template <bool kForBf16>
HWY_INLINE FloatVec Exp2InRange(FloatTag d, FloatVec y) {
#if HWY_TARGET <= HWY_AVX3
  const auto whole = FloatVec{_mm512_roundscale_ps(y.raw, _MM_FROUND_TO_NEAREST_INT)};
  const auto power = Exp2Fraction<kForBf16>(d, hn::Sub(y, whole));
  return FloatVec{_mm512_scalef_ps(power.raw, whole.raw)};
#else
  // Adding 1.5 * 2^23 rounds to a whole number. With the bias of a float's exponent added as well,
  // the low bits of the sum are the exponent of the power of two.
  const WordTag du;
  const auto magic = hn::Set(d, 12582912.0F + 127.0F);
  const auto shifted = hn::Add(y, magic);
  const auto power = Exp2Fraction<kForBf16>(d, hn::Sub(y, hn::Sub(shifted, magic)));
  return hn::Mul(power, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
#endif
}

// 2^y for y up to 100; 0 for y below -126, minus infinity included; a NaN stays one.
template <bool kForBf16>
HWY_INLINE FloatVec Exp2(FloatTag d, FloatVec y) {
#if HWY_TARGET <= HWY_AVX3
  // Does not compute lanes whose result would be denormal: Intel's processors take about a hundred
  // cycles for one.
  const auto normal = hn::Not(hn::Lt(y, hn::Set(d, -126.0F)));
  const auto whole = FloatVec{_mm512_roundscale_ps(y.raw, _MM_FROUND_TO_NEAREST_INT)};
  const auto power = Exp2Fraction<kForBf16>(d, hn::Sub(y, whole));
  return FloatVec{_mm512_maskz_scalef_ps(normal.raw, power.raw, whole.raw)};
#else
  return hn::IfThenZeroElse(hn::Lt(y, hn::Set(d, -126.0F)), Exp2InRange<kForBf16>(d, y));
#endif
}

// 1 / x for x in [1, 1e30], relative error below 3e-7.
HWY_INLINE FloatVec Reciprocal(FloatTag d, FloatVec x) {
#if HWY_ARCH_ARM_A64
  return hn::Div(hn::Set(d, 1.0F), x);  // estimates are of 8 bits there, too few for one step
#else
  // An estimate of at least 11 bits and a Newton step.
  const auto estimate = hn::ApproximateReciprocal(x);
  return hn::Mul(estimate, hn::NegMulAdd(x, estimate, hn::Set(d, 2.0F)));
#endif
}

// The smaller one of y and 0; a NaN stays one.
HWY_INLINE FloatVec AtMostZero(FloatTag d, FloatVec y) {
#if HWY_ARCH_X86
  return hn::Min(hn::Zero(d), y);  // its second operand, where one is a NaN
#else
  return hn::IfThenZeroElse(hn::Gt(y, hn::Zero(d)), y);  // Min takes the number
#endif
}

template <typename A>
inline constexpr bool kIsBf16 = false;
template <>
inline constexpr bool kIsBf16<Bf16> = true;

// Dropout of a row.
struct DropoutRow {
  uint64_t row_key = 0;
  uint32_t threshold = 0;  // KeepThreshold of the rate; 0: off
  float keep_scale = 1;    // KeepScale of the rate
};

// kHashStep times 0 .. 15, instead of Highway's Iota, which writes its lanes to memory one by one.
HWY_ALIGN inline constexpr uint32_t kHashSteps[16] = {
    0 * kHashStep,  1 * kHashStep,  2 * kHashStep,  3 * kHashStep, 4 * kHashStep,  5 * kHashStep,
    6 * kHashStep,  7 * kHashStep,  8 * kHashStep,  9 * kHashStep, 10 * kHashStep, 11 * kHashStep,
    12 * kHashStep, 13 * kHashStep, 14 * kHashStep, 15 * kHashStep};

// The random words of channels first .. first + lanes, which ChannelBits (dropout.h) defines.
HWY_INLINE WordVec DropoutWords(const DropoutRow& row, uint32_t first) {
  const WordTag d;
  auto x = hn::Add(hn::Load(d, kHashSteps), hn::Set(d, DropoutWord(first) * kHashStep));
  x = hn::Xor(x, hn::Set(d, static_cast<uint32_t>(row.row_key)));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, kHashMultiplier0));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Add(x, hn::Set(d, static_cast<uint32_t>(row.row_key >> 32)));
  x = hn::Mul(x, hn::Set(d, kHashMultiplier1));
  return hn::Xor(x, hn::ShiftRight<15>(x));
}

// Drops the lanes of `v` whose random bits, the high halves of `words`, are below the threshold,
// and scales the others.
HWY_INLINE FloatVec DropByHighHalves(FloatVec v, WordVec words, const DropoutRow& row) {
  const FloatTag d;
  const auto drop = hn::Lt(words, hn::Set(WordTag(), row.threshold << 16));
  return hn::IfThenZeroElse(hn::RebindMask(d, drop), hn::Mul(v, hn::Set(d, row.keep_scale)));
}

// Applies the dropout of channels first .. first + lanes to `v`.
HWY_INLINE FloatVec ApplyDropout(FloatVec v, const DropoutRow& row, uint32_t first) {
  const WordVec words = DropoutWords(row, first);
  return DropByHighHalves(v, InHighHalf(first) ? words : hn::ShiftLeft<16>(words), row);
}

// ApplyDropout for the vectors of a row, in order from channel 0 on. A vector of 16 lanes uses the
// second half of the words that the vector before it used, so that each word is computed once.
class DropoutOfRow {
 public:
  explicit HWY_INLINE DropoutOfRow(const DropoutRow& row)
      : row_(row), words_(hn::Zero(WordTag())) {}
  HWY_INLINE FloatVec Apply(FloatVec v, size_t channel) {
    const auto first = static_cast<uint32_t>(channel);
    const bool high = InHighHalf(first);
    if (!high || hn::Lanes(FloatTag()) < 16) words_ = DropoutWords(row_, first);
    return DropByHighHalves(v, high ? words_ : hn::ShiftLeft<16>(words_), row_);
  }

 private:
  DropoutRow row_;
  WordVec words_;
};

#if HWY_TARGET <= HWY_AVX3
// ApplyDropout for channels first .. first + 32 in two vectors of 16; `first` is a multiple of 32.
HWY_INLINE void ApplyDropoutToPair(FloatVec (&v)[2], const DropoutRow& row, uint32_t first) {
  const WordVec words = DropoutWords(row, first);
  v[0] = DropByHighHalves(v[0], hn::ShiftLeft<16>(words), row);
  v[1] = DropByHighHalves(v[1], words, row);
}
#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
