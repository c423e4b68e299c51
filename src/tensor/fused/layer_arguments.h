// Turns the parameters of layers into the arguments of the CPU kernels. They are valid as long as
// what they are made from.
#pragma once

#include "tensor/core/tensor.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/linear.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// `norm` has a beta (WithBeta).
inline cpu::Norm KernelNorm(const LayerNorm& norm) {
  return {norm.gamma.data_ptr<float>(), norm.beta.data_ptr<float>(),
          static_cast<float>(norm.epsilon)};
}

inline cpu::DropoutKeys Keys(const PackedTokens& tokens, const Dropout& dropout) {
  return {tokens.row_keys.data_ptr<int64_t>(), dropout};
}

// Serves activations like x.
inline cpu::Affine KernelAffine(const Linear& linear, const Tensor& x) {
  return {&linear.Forward(KernelType(x)), linear.StackedBias()};
}

}  // namespace tandem::tensor
