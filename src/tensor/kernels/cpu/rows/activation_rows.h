// The inner values of feed-forward layers, from the products that they are computed of. One thread
// works on `rows` rows of F = `width` channels, a multiple of 16, as in rows.h.
#pragma once

#include <cstddef>

#include "tensor/activation.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {

// inner = dropout(activation(before)), or, gated, dropout(activation(gate) factor), where the first
// F channels of `before` are the gate and the other F the factor.
//
// The error of SiLU and of GELU by tanh is below 5e-7 |x|, for Bf16 below 5e-6 |x| before rounding,
// and that of the slopes below 2e-6 and 2e-5; for GELU by the error function see rows.h. A NaN
// gives a NaN.
template <typename A>
struct ActivationForward {
  Activation activation;
  bool gated;
  const A* before;  // [rows, F]; gated: [rows, 2F]
  RowDropout dropout;
  A* inner;  // [rows, F]
};
template <typename A>
void RunActivation(const ActivationForward<A>& args, size_t rows, size_t width);

// The backward pass of ActivationForward, which computes `inner` again.
template <typename A>
struct ActivationBackward {
  Activation activation;
  bool gated;
  const A* before;  // [rows, F]; gated: [rows, 2F]
  RowDropout dropout;
  const A* grad_inner;  // [rows, F]
  A* grad_before;       // [rows, F], which may be grad_inner; gated: [rows, 2F]
  A* inner;             // [rows, F]; null: not wanted
};
template <typename A>
void RunActivationBackward(const ActivationBackward<A>& args, size_t rows, size_t width);

}  // namespace tandem::tensor::cpu
