// Activations and their slopes. Included once per target by the files that need them. GELU by the
// error function has a file of its own.
#if defined(TANDEM_TENSOR_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_ACTIVATION_INL_H_
#undef TANDEM_TENSOR_ACTIVATION_INL_H_
#else
#define TANDEM_TENSOR_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>

#include "tensor/kernels/cpu/rows/gelu-inl.h"
#include "tensor/kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Every activation is a class like Gelu: made from x, it has Value() and Slope().

// 1 / (1 + exp(-y)) and what it lacks to 1, both without cancellation: the exponential is of -|y|,
// and the reciprocal of a number in [1, 2]. The error of either is below 5e-7, for bf16 below 5e-6.
// A NaN gives NaNs.
template <bool kForBf16>
struct Sigmoid {
  explicit HWY_INLINE Sigmoid(FloatVec y) {
    const FloatTag d;
    const auto power = Exp2<kForBf16>(d, hn::Mul(hn::Abs(y), hn::Set(d, -kLog2E)));
    const auto large = Reciprocal(d, hn::Add(power, hn::Set(d, 1.0F)));
    const auto small = hn::Mul(power, large);
    const auto negative = hn::Lt(y, hn::Zero(d));
    value = hn::IfThenElse(negative, small, large);
    rest = hn::IfThenElse(negative, large, small);
  }

  FloatVec value;
  FloatVec rest;  // 1 - value
};

// x / (1 + exp(-x)).
template <bool kForBf16>
class Silu {
 public:
  explicit HWY_INLINE Silu(FloatVec x) : x_(x), sigmoid_(x) {}
  HWY_INLINE FloatVec Value() const { return hn::Mul(x_, sigmoid_.value); }
  HWY_INLINE FloatVec Slope() const {
    return hn::Mul(sigmoid_.value, hn::MulAdd(x_, sigmoid_.rest, hn::Set(FloatTag(), 1.0F)));
  }

 private:
  FloatVec x_;
  Sigmoid<kForBf16> sigmoid_;
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x / (1 + exp(-2 u)).
template <bool kForBf16>
class GeluTanh {
 public:
  explicit HWY_INLINE GeluTanh(FloatVec x)
      : x_(x), square_(Square(x)), sigmoid_(Twice(x, square_)) {}
  HWY_INLINE FloatVec Value() const { return hn::Mul(x_, sigmoid_.value); }
  HWY_INLINE FloatVec Slope() const {
    const FloatTag d;
    const auto slope_of_twice =
        hn::MulAdd(square_, hn::Set(d, 3 * kCubicFactor * kFactor), hn::Set(d, kFactor));
    const auto slope_of_sigmoid = hn::Mul(hn::Mul(sigmoid_.value, sigmoid_.rest), slope_of_twice);
    return hn::MulAdd(x_, slope_of_sigmoid, sigmoid_.value);
  }

 private:
  static constexpr float kFactor = 1.5957691216057308F;  // 2 sqrt(2 / pi)
  static constexpr float kCubicFactor = 0.044715F;
  // exp(-2 u) is 0 in float from here on. Further on the square could be infinite, and the slope 0
  // times infinity.
  static constexpr float kFlat = 16;

  static HWY_INLINE FloatVec Clamped(FloatVec x) {
    return hn::Min(hn::Abs(x), hn::Set(FloatTag(), kFlat));
  }
  static HWY_INLINE FloatVec Square(FloatVec x) { return hn::Mul(Clamped(x), Clamped(x)); }
  static HWY_INLINE FloatVec Twice(FloatVec x, FloatVec square) {
    const FloatTag d;
    const auto factor = hn::MulAdd(square, hn::Set(d, kCubicFactor * kFactor), hn::Set(d, kFactor));
    return hn::CopySignToAbs(hn::Mul(Clamped(x), factor), x);
  }

  FloatVec x_;  // a NaN here makes value and slope NaNs
  FloatVec square_;
  Sigmoid<kForBf16> sigmoid_;
};

// max(x, 0); a NaN stays one. The slope at 0 is 0, at a NaN 1, as libtorch has them.
template <bool kForBf16>
class Relu {
 public:
  explicit HWY_INLINE Relu(FloatVec x) : x_(x) {}
  HWY_INLINE FloatVec Value() const {
    return hn::IfThenZeroElse(hn::Lt(x_, hn::Zero(FloatTag())), x_);
  }
  HWY_INLINE FloatVec Slope() const {
    const FloatTag d;
    return hn::IfThenZeroElse(hn::Le(x_, hn::Zero(d)), hn::Set(d, 1.0F));
  }

 private:
  FloatVec x_;
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
