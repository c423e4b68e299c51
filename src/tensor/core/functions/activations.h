// Functions of each element that gradients flow through, for heads and for layers that no fused
// kernel computes. They take any shape of a floating type and compute in it (numbers of 16 bits as
// floats). All throw std::logic_error for other types.
#pragma once

#include "tensor/core/tensor.h"

namespace tandem::tensor {

Tensor Tanh(const Tensor& x);
Tensor Sigmoid(const Tensor& x);   // 1 / (1 + exp(-x))
Tensor Relu(const Tensor& x);      // its slope at 0 is 0
Tensor Silu(const Tensor& x);      // x Sigmoid(x)
Tensor Gelu(const Tensor& x);      // x times the normal distribution's share below x
Tensor GeluTanh(const Tensor& x);  // its approximation by tanh (Hendrycks and Gimpel 2016)

}  // namespace tandem::tensor
