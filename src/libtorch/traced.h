// Operations of Tandem's graph that are computed, forward and backward, by libtorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::libtorch {

// Takes the inputs as libtorch's tensors, in their order, undefined where they are.
using TorchFunction = std::function<at::Tensor(const std::vector<at::Tensor>& inputs)>;
using TorchFunctions =
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& inputs)>;

// What `function` returns, as one operation of Tandem's graph. Where gradients are on, inputs that
// want one require it in libtorch too, which traces the function and computes the gradients; else
// nothing is recorded. Outputs share the memory of what the function returned, which may be that of
// an input. `name` is a literal. Throws MemoryError (base/error.h) where memory is full, forward
// and backward.
tensor::Tensor Traced(const char* name, std::span<const tensor::Tensor> inputs,
                      const TorchFunction& function);
tensor::Tensor Traced(const char* name, std::initializer_list<tensor::Tensor> inputs,
                      const TorchFunction& function);
// The same for several outputs, which may be undefined. One of a type without fractions, or that is
// no function of the inputs that want gradients, has no history.
std::vector<tensor::Tensor> TracedSeveral(const char* name, std::span<const tensor::Tensor> inputs,
                                          const TorchFunctions& function);

}  // namespace tandem::libtorch
