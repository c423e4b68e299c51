// The kernel calls of a linear map alone, forward and backward, without graph and profile.
#pragma once

#include "tensor/backward_state.h"
#include "tensor/core/tensor.h"
#include "tensor/linear.h"

namespace tandem::tensor {

// x W^T + b: [T, N] of x's type, for x [T, K] and a prepared map that the kernels take.
Tensor AffineProduct(const Tensor& x, const Linear& linear);

// The backward pass of AffineProduct from `grad` [T, N], into `sums`. Returns the gradient of x
// [T, K], with `other_grad_x` added where that is defined.
Tensor AffineProductBackward(const Tensor& x, const Linear& linear, const Tensor& grad,
                             const Tensor& other_grad_x, const LinearSums& sums);

}  // namespace tandem::tensor
