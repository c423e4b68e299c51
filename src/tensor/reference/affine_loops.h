// Affine maps as the reference computes them: plain loops in float or double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tensor/reference/dot.h"

namespace tandem::tensor::loops {

template <typename T>
struct AffineArguments {
  const T* x;       // [rows, in]
  const T* weight;  // [outs, in]
  const T* bias;    // [outs], or null: none
  int64_t rows, in, outs;
};

// out[r, n] = sum_k x[r, k] weight[n, k] + bias[n], [rows, outs].
template <typename T>
void Affine(const AffineArguments<T>& args, T* out) {
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t n = 0; n < args.outs; ++n) {
      const double product = Dot(args.x + r * args.in, args.weight + n * args.in, args.in);
      const double bias = args.bias == nullptr ? 0.0 : static_cast<double>(args.bias[n]);
      out[r * args.outs + n] = static_cast<T>(product + bias);
    }
  }
}

// The gradients of Affine:
//
//   grad_x[r, k]      = sum_n grad_out[r, n] weight[n, k]
//   grad_weight[n, k] = sum_r grad_out[r, n] x[r, k]
//   grad_bias[n]      = sum_r grad_out[r, n]
//
// `grad_weight` [outs, in] and `grad_bias` [outs] are added to, or null: not wanted.
template <typename T>
void AffineBackward(const AffineArguments<T>& args, const T* grad_out, T* grad_x,
                    double* grad_weight, double* grad_bias) {
  std::vector<double> sums(static_cast<size_t>(args.in));
  for (int64_t r = 0; r < args.rows; ++r) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t n = 0; n < args.outs; ++n) {
      const auto grad = static_cast<double>(grad_out[r * args.outs + n]);
      AddTimes(grad, args.weight + n * args.in, args.in, sums.data());
      if (grad_weight != nullptr) {
        AddTimes(grad, args.x + r * args.in, args.in, grad_weight + n * args.in);
      }
      if (grad_bias != nullptr) grad_bias[n] += grad;
    }
    for (int64_t k = 0; k < args.in; ++k) {
      grad_x[r * args.in + k] = static_cast<T>(sums[static_cast<size_t>(k)]);
    }
  }
}

}  // namespace tandem::tensor::loops
