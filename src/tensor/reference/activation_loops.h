// The inner values of feed-forward layers as the reference computes them: plain loops in float or
// double.
#pragma once

#include <cstdint>

#include "tensor/activation_curve.h"

namespace tandem::tensor::loops {

template <typename T>
struct InnerArguments {
  const T* x;  // [rows, width]; gated: [rows, 2 width]
  int64_t rows, width;
  Activation activation;
  bool gated;

  const T* RowOf(int64_t row) const { return x + row * (gated ? 2 : 1) * width; }
};

// out[r, c] = activation(x[r, c]), [rows, width]; gated: times x[r, width + c] (Shazeer 2020).
template <typename T>
void InnerValues(const InnerArguments<T>& args, T* out) {
  for (int64_t r = 0; r < args.rows; ++r) {
    const T* x = args.RowOf(r);
    for (int64_t c = 0; c < args.width; ++c) {
      const double gate = args.gated ? static_cast<double>(x[args.width + c]) : 1.0;
      out[r * args.width + c] =
          static_cast<T>(Activate(static_cast<double>(x[c]), args.activation) * gate);
    }
  }
}

// grad_x [as x] from grad_out [rows, width].
template <typename T>
void InnerValuesBackward(const InnerArguments<T>& args, const T* grad_out, T* grad_x) {
  for (int64_t r = 0; r < args.rows; ++r) {
    const T* x = args.RowOf(r);
    T* grad = grad_x + (x - args.x);
    for (int64_t c = 0; c < args.width; ++c) {
      const auto value = static_cast<double>(x[c]);
      const auto above = static_cast<double>(grad_out[r * args.width + c]);
      const double gate = args.gated ? static_cast<double>(x[args.width + c]) : 1.0;
      grad[c] = static_cast<T>(above * gate * Slope(value, args.activation));
      if (args.gated) {
        grad[args.width + c] = static_cast<T>(above * Activate(value, args.activation));
      }
    }
  }
}

}  // namespace tandem::tensor::loops
