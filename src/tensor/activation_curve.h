// Activations and their slopes at a number.
#pragma once

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "tensor/activation.h"

namespace tandem::tensor::loops {

// The standard normal distribution function and its density.
inline double NormalShare(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
inline double NormalDensity(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// tanh(sqrt(2 / pi) (x + 0.044715 x^3)), with which GELU is approximated.
inline double GeluTanh(double x) {
  return std::tanh(std::numbers::sqrt2 * std::numbers::inv_sqrtpi * (x + 0.044715 * x * x * x));
}

// GELU is x Phi(x), or 0.5 x (1 + GeluTanh(x)) (Hendrycks and Gimpel 2016); SiLU is x sigmoid(x)
// (Elfwing et al. 2017). NaN stays NaN.
inline double Activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return x * NormalShare(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + GeluTanh(x));
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kSilu:
      return x * Sigmoid(x);
  }
  throw std::logic_error("an activation without a name");
}

// The derivative of Activate. That of ReLU is 0 at 0.
inline double Slope(double x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return NormalShare(x) + x * NormalDensity(x);
    case Activation::kGeluTanh: {
      const double tanh = GeluTanh(x);
      const double inner =
          std::numbers::sqrt2 * std::numbers::inv_sqrtpi * (1 + 3 * 0.044715 * x * x);
      return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * inner;
    }
    case Activation::kRelu:
      return x <= 0 ? 0 : 1;
    case Activation::kSilu: {
      const double share = Sigmoid(x);
      return share * (1 + x * (1 - share));
    }
  }
  throw std::logic_error("an activation without a name");
}

}  // namespace tandem::tensor::loops
