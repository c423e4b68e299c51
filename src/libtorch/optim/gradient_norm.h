// The norm of a gradient where it is.
#pragma once

#include <span>

#include "tensor/core/tensor.h"

namespace tandem::libtorch {

// optim::DeviceRules::norm.
double GradientNorm(std::span<const tensor::Tensor> tensors);

}  // namespace tandem::libtorch
