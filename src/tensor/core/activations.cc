#include "tensor/core/activations.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "tensor/core/make.h"
#include "tensor/core/tape.h"

namespace tandem::tensor {
namespace {

// Each has the value and the slope at x.
struct TanhCurve {
  template <typename T>
  static T Value(T x) {
    return std::tanh(x);
  }
  template <typename T>
  static T Slope(T x) {
    const T value = std::tanh(x);
    return 1 - value * value;
  }
};

struct SigmoidCurve {
  template <typename T>
  static T Value(T x) {
    return 1 / (1 + std::exp(-x));
  }
  template <typename T>
  static T Slope(T x) {
    const T value = Value(x);
    return value * (1 - value);
  }
};

struct ReluCurve {
  template <typename T>
  static T Value(T x) {
    return x < 0 ? 0 : x;  // NaN stays
  }
  template <typename T>
  static T Slope(T x) {
    return x <= 0 ? 0 : 1;
  }
};

struct SiluCurve {
  template <typename T>
  static T Value(T x) {
    return x * SigmoidCurve::Value(x);
  }
  template <typename T>
  static T Slope(T x) {
    const T share = SigmoidCurve::Value(x);
    return share + x * share * (1 - share);
  }
};

struct GeluCurve {
  template <typename T>
  static T Share(T x) {
    return (1 + std::erf(x / std::numbers::sqrt2_v<T>)) / 2;
  }
  template <typename T>
  static T Value(T x) {
    return x * Share(x);
  }
  template <typename T>
  static T Slope(T x) {
    const T density =
        std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    return Share(x) + x * density;
  }
};

struct GeluTanhCurve {
  static constexpr double kCubic = 0.044715;
  static constexpr double kScale =
      std::numbers::sqrt2_v<double> * std::numbers::inv_sqrtpi_v<double>;  // sqrt(2 / pi)

  template <typename T>
  static T Inner(T x) {
    return std::tanh(T(kScale) * (x + T(kCubic) * x * x * x));
  }
  template <typename T>
  static T Value(T x) {
    return x * (1 + Inner(x)) / 2;
  }
  template <typename T>
  static T Slope(T x) {
    const T inner = Inner(x);
    return (1 + inner) / 2 + x / 2 * (1 - inner * inner) * T(kScale) * (1 + 3 * T(kCubic) * x * x);
  }
};

template <typename Curve, typename T>
void Values(const Tensor& x, const Tensor& out) {
  const T* from = x.data_ptr<T>();
  T* to = out.data_ptr<T>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = Curve::Value(from[i]);
}

template <typename Curve, typename T>
void Slopes(const Tensor& x, const Tensor& grad, const Tensor& grad_x) {
  const T *from = x.data_ptr<T>(), *by = grad.data_ptr<T>();
  T* to = grad_x.data_ptr<T>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = by[i] * Curve::Slope(from[i]);
}

template <typename Curve>
Tensor Apply(const char* name, const Tensor& x) {
  if (!IsFloating(x.dtype())) {
    throw std::logic_error(fmt::format("{}: expected a floating type, found {}", name, x.Text()));
  }
  const bool is_double = x.dtype() == kDouble;
  if (!is_double && x.dtype() != kFloat) return Apply<Curve>(name, x.to(kFloat)).to(x.dtype());
  const Tensor out = EmptyLike(x);
  is_double ? Values<Curve, double>(x, out) : Values<Curve, float>(x, out);
  if (!NeedsGradient({x})) return out;
  return WithBackward(name, out, {x}, [x = x.detach(), is_double](const Tensor& grad) {
    const Tensor grad_x = EmptyLike(x);
    is_double ? Slopes<Curve, double>(x, grad, grad_x) : Slopes<Curve, float>(x, grad, grad_x);
    return std::vector{grad_x};
  });
}

}  // namespace

Tensor Tanh(const Tensor& x) { return Apply<TanhCurve>("Tanh", x); }
Tensor Sigmoid(const Tensor& x) { return Apply<SigmoidCurve>("Sigmoid", x); }
Tensor Relu(const Tensor& x) { return Apply<ReluCurve>("Relu", x); }
Tensor Silu(const Tensor& x) { return Apply<SiluCurve>("Silu", x); }
Tensor Gelu(const Tensor& x) { return Apply<GeluCurve>("Gelu", x); }
Tensor GeluTanh(const Tensor& x) { return Apply<GeluTanhCurve>("GeluTanh", x); }

}  // namespace tandem::tensor
