#include "tensor/core/functions/activations.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tensor/activation_curve.h"
#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

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
    return static_cast<T>(loops::Sigmoid(x));
  }
  template <typename T>
  static T Slope(T x) {
    const double value = loops::Sigmoid(x);
    return static_cast<T>(value * (1 - value));
  }
};

template <Activation kActivation>
struct ActivationCurve {
  template <typename T>
  static T Value(T x) {
    return static_cast<T>(loops::Activate(x, kActivation));
  }
  template <typename T>
  static T Slope(T x) {
    return static_cast<T>(loops::Slope(x, kActivation));
  }
};

template <typename Curve, typename T>
void Values(const Tensor& x, const Tensor& out) {
  const T* from = x.data_ptr<T>();
  T* to = out.data_ptr<T>();
  internal::ForEach(x.numel(), [=](int64_t i) { to[i] = Curve::Value(from[i]); });
}

template <typename Curve, typename T>
void Slopes(const Tensor& x, const Tensor& grad, const Tensor& grad_x) {
  const T *from = x.data_ptr<T>(), *by = grad.data_ptr<T>();
  T* to = grad_x.data_ptr<T>();
  internal::ForEach(x.numel(), [=](int64_t i) { to[i] = by[i] * Curve::Slope(from[i]); });
}

template <typename Curve>
Tensor Apply(const char* name, ElementFunction function, const Tensor& x) {
  if (!IsFloating(x.dtype())) {
    throw std::logic_error(fmt::format("{}: expected a floating type, found {}", name, x.Text()));
  }
  if (const auto* device = internal::FunctionsFor(name, {&x})) return device->Apply(function, x);
  const bool is_double = x.dtype() == kDouble;
  if (!is_double && x.dtype() != kFloat) {
    return Apply<Curve>(name, function, x.to(kFloat)).to(x.dtype());
  }
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

Tensor Tanh(const Tensor& x) { return Apply<TanhCurve>("Tanh", ElementFunction::kTanh, x); }
Tensor Sigmoid(const Tensor& x) {
  return Apply<SigmoidCurve>("Sigmoid", ElementFunction::kSigmoid, x);
}
Tensor Relu(const Tensor& x) {
  return Apply<ActivationCurve<Activation::kRelu>>("Relu", ElementFunction::kRelu, x);
}
Tensor Silu(const Tensor& x) {
  return Apply<ActivationCurve<Activation::kSilu>>("Silu", ElementFunction::kSilu, x);
}
Tensor Gelu(const Tensor& x) {
  return Apply<ActivationCurve<Activation::kGelu>>("Gelu", ElementFunction::kGelu, x);
}
Tensor GeluTanh(const Tensor& x) {
  return Apply<ActivationCurve<Activation::kGeluTanh>>("GeluTanh", ElementFunction::kGeluTanh, x);
}

}  // namespace tandem::tensor
