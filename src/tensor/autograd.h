// Hooking hand-written backward passes into libtorch's graph, without its templates in headers.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace tandem::tensor {

// From the gradient of an operation's output to the gradients of its inputs, in their order; an
// undefined tensor where an input needs none. Runs with gradients disabled.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor& grad_out)>;

// The same for an operation of several outputs, from the gradients of all of them in their order;
// undefined where nothing reads an output, but for one at least.
using BackwardOfSeveral =
    std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>& grads)>;

// Whether gradients are enabled and any of the (defined) inputs wants one.
bool NeedsGradient(at::ArrayRef<at::Tensor> inputs);

// `out` as a function of `inputs` whose backward pass is `backward`. The closure, and what it
// keeps, is released once the backward pass has run.
at::Tensor WithBackward(const char* name, at::Tensor out, at::ArrayRef<at::Tensor> inputs,
                        Backward backward);
// Makes `outs` functions of `inputs`.
void WithBackward(const char* name, at::ArrayRef<at::Tensor> outs, at::ArrayRef<at::Tensor> inputs,
                  BackwardOfSeveral backward);

}  // namespace tandem::tensor
