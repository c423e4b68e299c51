// Adds operations with hand-written backward passes to libtorch's graph. libtorch's own templates
// for this are slow to compile; they stay in autograd.cc.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace tandem::tensor {

// Computes the gradients of an operation's inputs, in their order, from the gradient of its output.
// A tensor may be undefined where an input needs no gradient. Runs with gradients disabled.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor& grad_out)>;

// Backward for an operation with several outputs: takes the gradients of the outputs, in their
// order. The gradient of an output that nothing reads is undefined; at least one is defined.
using BackwardOfSeveral =
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& grads)>;

// Says whether gradients are enabled and any of the (defined) inputs wants one.
bool NeedsGradient(at::ArrayRef<at::Tensor> inputs);

// Makes `out` a function of `inputs` with this backward pass, and returns it. An input may be
// undefined, as an optional parameter is; it has no gradient. The closure, and with
// it everything that it holds, is released once the backward pass has run.
at::Tensor WithBackward(const char* name, at::Tensor out, at::ArrayRef<at::Tensor> inputs,
                        Backward backward);
// WithBackward for an operation with several outputs.
void WithBackward(const char* name, at::ArrayRef<at::Tensor> outs, at::ArrayRef<at::Tensor> inputs,
                  BackwardOfSeveral backward);

}  // namespace tandem::tensor
