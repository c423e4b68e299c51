// GELU and its slope. Included once per target by the files that need them.
#if defined(TANDEM_TENSOR_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GELU_INL_H_
#undef TANDEM_TENSOR_GELU_INL_H_
#else
#define TANDEM_TENSOR_GELU_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "tensor/kernels/cpu/normal_tail.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

// The value of a table's row for every piece: a permutation of the registers that hold the row.
HWY_INLINE FloatVec Look(const float (&row)[16], WordVec piece) {
  return FloatVec{_mm512_permutexvar_ps(piece.raw, _mm512_load_ps(row))};
}
HWY_INLINE FloatVec Look(const float (&row)[32], WordVec piece) {
  return FloatVec{_mm512_permutex2var_ps(_mm512_load_ps(row), piece.raw, _mm512_load_ps(row + 16))};
}

template <size_t kPieces, size_t kDegree>
HWY_INLINE FloatVec LookUp(FloatTag d, const NormalTail<kPieces, kDegree>& table, FloatVec z) {
  const auto last = hn::Set(d, static_cast<float>(kPieces - 1));
  const auto scaled = hn::Min(hn::Mul(z, hn::Set(d, 1.0F / table.width)), last);
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const auto magic = hn::Set(d, 12582912.0F);
  const auto shifted = hn::Add(scaled, magic);
  const auto f = hn::Sub(scaled, hn::Sub(shifted, magic));
  const auto piece = hn::BitCast(WordTag(), shifted);
  auto sum = Look(table.rows[kDegree], piece);
  for (size_t i = kDegree; i > 0; --i) sum = hn::MulAdd(sum, f, Look(table.rows[i - 1], piece));
  return sum;
}

#endif

// exp(-x^2 / 2), the density of a normal without its constant.
template <bool kForBf16>
HWY_INLINE FloatVec DensityOf(FloatTag d, FloatVec x) {
  return Exp2<kForBf16>(d, hn::Mul(x, hn::Mul(x, hn::Set(d, -0.5F * kLog2E))));
}

// Phi(-|x|), the smaller tail of a normal's distribution.
template <bool kForBf16>
HWY_INLINE FloatVec TailOf(FloatTag d, FloatVec x) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kForBf16) {
    return LookUp(d, kNormalTailForBf16, hn::Abs(x));
  } else {
    return LookUp(d, kNormalTail, hn::Abs(x));
  }
#else
  // Half of erfc(z), and erfc(z) exp(z^2) is a polynomial in 1 / (1 + p z), fitted by weighted
  // least squares in float64; in float the error of Phi is below 3e-7.
  const auto z = hn::MulAdd(hn::Abs(x), hn::Set(d, 0.38183766184074F), hn::Set(d, 1.0F));
  const auto t = Reciprocal(d, z);
  auto sum = hn::Set(d, 0.05107884481546763F);
  sum = hn::MulAdd(sum, t, hn::Set(d, -0.25852254033088685F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 0.40242916346311855F));
  sum = hn::MulAdd(sum, t, hn::Set(d, -0.04187338376709175F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 0.1999488919873347F));
  sum = hn::MulAdd(sum, t, hn::Set(d, 0.1469389796257014F));
  return hn::Mul(hn::Mul(sum, t), DensityOf<kForBf16>(d, x));
#endif
}

// x Phi(x), which is max(x, 0) - |x| Phi(-|x|).
HWY_INLINE FloatVec GeluOf(FloatTag d, FloatVec x, FloatVec tail) {
  return hn::NegMulAdd(hn::Abs(x), tail, hn::Max(hn::Zero(d), x));
}

// The slope of x Phi(x), which is Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi); `tail` is TailOf x.
template <bool kForBf16>
HWY_INLINE FloatVec GeluSlopeOf(FloatTag d, FloatVec x, FloatVec tail) {
  const auto inverse_root_two_pi = hn::Set(d, 0.39894228040143268F);
  const auto distribution =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0F), tail));
  return hn::MulAdd(hn::Mul(x, DensityOf<kForBf16>(d, x)), inverse_root_two_pi, distribution);
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
