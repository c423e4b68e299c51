// The kernel calls of a linear map alone, forward and backward, without graph and profile.
#pragma once

#include <ATen/core/Tensor.h>

#include "tensor/backward_state.h"
#include "tensor/linear.h"

namespace tandem::tensor {

// x W^T + b: [T, N] of x's type, for x [T, K] and a prepared map that the kernels take.
at::Tensor AffineProduct(const at::Tensor& x, const Linear& linear);

// The backward pass of AffineProduct from `grad` [T, N], into `sums`. Returns the gradient of x
// [T, K], with `other_grad_x` added where that is defined.
at::Tensor AffineProductBackward(const at::Tensor& x, const Linear& linear, const at::Tensor& grad,
                                 const at::Tensor& other_grad_x, const LinearSums& sums);

}  // namespace tandem::tensor
