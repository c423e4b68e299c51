// Adds operations with hand-written backward passes to libtorch's graph, and runs it backward.
// libtorch's own templates for this are slow to compile; they stay in graph.cc.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace tandem::libtorch {

// Computes the gradients of an operation's inputs, in their order, from the gradient of its output.
// A tensor may be undefined where an input needs no gradient. Runs with gradients disabled.
using Backward = std::function<std::vector<at::Tensor>(const at::Tensor& grad_out)>;

// Says whether gradients are enabled and any of the (defined) inputs wants one.
bool NeedsGradient(at::ArrayRef<at::Tensor> inputs);

// Makes `out` a function of `inputs` with this backward pass, and returns it. An input may be
// undefined, as an optional parameter is; it has no gradient. The closure, and with it everything
// that it holds, is released once the backward pass has run.
at::Tensor WithBackward(const char* name, at::Tensor out, at::ArrayRef<at::Tensor> inputs,
                        Backward backward);

// A part of libtorch's graph, from some tensors to functions of them. It keeps what the functions
// saved, and no more: neither inputs nor outputs.
class Subgraph {
 public:
  Subgraph();
  ~Subgraph();
  Subgraph(Subgraph&&) noexcept;
  Subgraph& operator=(Subgraph&&) noexcept;

  // Makes `x`, of a floating type and without history, an input that wants a gradient.
  void AddInput(const at::Tensor& x);
  // Makes `x` an output. It may be no function of the inputs: then its gradient leads nowhere.
  void AddOutput(const at::Tensor& x);

  // The gradients of the inputs, in the order in which they were added, from those of the outputs,
  // of their shapes, types and devices; undefined for an output that nothing reads, and for an
  // input that nothing read. Called once. `grads` keeps its memory while this runs.
  std::vector<at::Tensor> Backward(const std::vector<at::Tensor>& grads);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem::libtorch
