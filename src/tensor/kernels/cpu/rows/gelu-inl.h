// GELU and its slope. Included once per target by the files that need them.
#if defined(TANDEM_TENSOR_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GELU_INL_H_
#undef TANDEM_TENSOR_GELU_INL_H_
#else
#define TANDEM_TENSOR_GELU_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "tensor/kernels/cpu/rows/gelu_tables.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3

// The piece of a piecewise polynomial that an argument belongs to, and its place in the piece,
// which is a NaN for a NaN.
struct Piece {
  WordVec index;
  FloatVec f;
};

// The piece of z >= 0, for every table with pieces of this number and width.
template <size_t kPieces, size_t kDegree>
HWY_INLINE Piece PieceOf(const PiecewisePolynomial<kPieces, kDegree>& table, FloatVec z) {
  const FloatTag d;
  const auto last = hn::Set(d, static_cast<float>(kPieces - 1));
  // The instruction's second argument is what it returns for a NaN.
  const auto scaled =
      FloatVec{_mm512_min_ps(last.raw, hn::Mul(z, hn::Set(d, 1.0F / table.width)).raw)};
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const auto magic = hn::Set(d, 12582912.0F);
  const auto shifted = hn::Add(scaled, magic);
  return {hn::BitCast(WordTag(), shifted), hn::Sub(scaled, hn::Sub(shifted, magic))};
}

// Gathers the values of a table's row for every lane's piece, by permuting the registers that hold
// the row.
HWY_INLINE FloatVec Gather(const float (&row)[16], WordVec piece) {
  return FloatVec{_mm512_permutexvar_ps(piece.raw, _mm512_load_ps(row))};
}
HWY_INLINE FloatVec Gather(const float (&row)[32], WordVec piece) {
  return FloatVec{_mm512_permutex2var_ps(_mm512_load_ps(row), piece.raw, _mm512_load_ps(row + 16))};
}

template <size_t kPieces, size_t kDegree>
HWY_INLINE FloatVec Evaluate(const PiecewisePolynomial<kPieces, kDegree>& table, Piece piece) {
  auto sum = Gather(table.rows[kDegree], piece.index);
  for (size_t i = kDegree; i > 0; --i) {
    sum = hn::MulAdd(sum, piece.f, Gather(table.rows[i - 1], piece.index));
  }
  return sum;
}

// GELU of x and its slope there, to the precision of floats or of bf16.
template <bool kForBf16>
class Gelu {
 public:
  explicit HWY_INLINE Gelu(FloatVec x) : x_(x), piece_(PieceOf(Tail(), hn::Abs(x))) {}

  // x Phi(x), which is max(x, 0) - |x| Phi(-|x|).
  HWY_INLINE FloatVec Value() const {
    return hn::NegMulAdd(hn::Abs(x_), Evaluate(Tail(), piece_), hn::Max(hn::Zero(FloatTag()), x_));
  }
  HWY_INLINE FloatVec Slope() const {
    const FloatTag d;
    return hn::Add(hn::Set(d, 0.5F), hn::CopySignToAbs(Evaluate(SlopeOddPart(), piece_), x_));
  }

 private:
  static constexpr const auto& Tail() {
    if constexpr (kForBf16) {
      return kNormalTailForBf16;
    } else {
      return kNormalTail;
    }
  }
  // The slope less 1/2, an odd function of x.
  static constexpr const auto& SlopeOddPart() {
    if constexpr (kForBf16) {
      return kGeluSlopeForBf16;
    } else {
      return kGeluSlope;
    }
  }

  FloatVec x_;
  Piece piece_;
};

#else

// GELU of x and its slope there, to the precision of floats or of bf16.
template <bool kForBf16>
class Gelu {
 public:
  explicit HWY_INLINE Gelu(FloatVec x) : x_(x) {
    const FloatTag d;
    density_ = Exp2<kForBf16>(d, hn::Mul(x, hn::Mul(x, hn::Set(d, -0.5F * kLog2E))));
    // Phi(-|x|) is half of erfc(z), and erfc(z) exp(z^2) is a polynomial in 1 / (1 + p z), fitted
    // by weighted least squares in float64; in float the error of Phi is below 3e-7.
    const auto z = hn::MulAdd(hn::Abs(x), hn::Set(d, 0.38183766184074F), hn::Set(d, 1.0F));
    const auto t = Reciprocal(d, z);
    auto sum = hn::Set(d, 0.05107884481546763F);
    sum = hn::MulAdd(sum, t, hn::Set(d, -0.25852254033088685F));
    sum = hn::MulAdd(sum, t, hn::Set(d, 0.40242916346311855F));
    sum = hn::MulAdd(sum, t, hn::Set(d, -0.04187338376709175F));
    sum = hn::MulAdd(sum, t, hn::Set(d, 0.1999488919873347F));
    sum = hn::MulAdd(sum, t, hn::Set(d, 0.1469389796257014F));
    tail_ = hn::Mul(hn::Mul(sum, t), density_);
  }

  // x Phi(x), which is max(x, 0) - |x| Phi(-|x|).
  HWY_INLINE FloatVec Value() const {
    return hn::NegMulAdd(hn::Abs(x_), tail_, hn::Max(hn::Zero(FloatTag()), x_));
  }
  // Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi).
  HWY_INLINE FloatVec Slope() const {
    const FloatTag d;
    const auto inverse_root_two_pi = hn::Set(d, 0.39894228040143268F);
    const auto distribution =
        hn::IfThenElse(hn::Lt(x_, hn::Zero(d)), tail_, hn::Sub(hn::Set(d, 1.0F), tail_));
    return hn::MulAdd(hn::Mul(x_, density_), inverse_root_two_pi, distribution);
  }

 private:
  FloatVec x_;
  FloatVec density_;  // exp(-x^2 / 2)
  FloatVec tail_;     // Phi(-|x|)
};

#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
