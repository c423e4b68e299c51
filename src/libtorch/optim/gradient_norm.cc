#include "libtorch/optim/gradient_norm.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

#include <vector>

#include "libtorch/bridge.h"
#include "libtorch/memory_errors.h"

namespace tandem::libtorch {

double GradientNorm(std::span<const tensor::Tensor> tensors) {
  return WithMemoryErrors([&] {
    const std::vector<at::Tensor> gradients =
        AsTorch(std::vector<tensor::Tensor>(tensors.begin(), tensors.end()));
    const at::Tensor norms = at::stack(at::_foreach_norm(gradients)).to(at::kDouble);
    return norms.square().sum().sqrt().item<double>();
  });
}

}  // namespace tandem::libtorch
