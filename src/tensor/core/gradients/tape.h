// The graph through which gradients flow.
//
// An operation computes its output, and gives with WithBackward a closure that computes the
// gradients of its inputs from that of its output. Tensor::backward calls the closures, from a
// tensor back to the leaves that want gradients, which keep the sums. The order is fixed: an
// operation runs once all that read its outputs have; of those that are ready, the one that was
// made last. Where several operations read one tensor, their gradients are added in the order in
// which they ran. That is libtorch's order, so that sums have its bits.
//
// Each closure is called once and released then, with all that it holds, so that memory is given
// back as the pass goes. A graph is therefore walked once. Several threads may each walk a graph of
// their own at the same time, though these share leaves; one graph is one thread's.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::tensor {

// Says whether operations of this thread enter the graph. They do unless a NoGradGuard lives, and
// except in closures of a backward pass.
bool GradEnabled();

// Lets operations of this thread enter the graph, or keeps them out of it, while it lives.
class GradientMode {
 public:
  explicit GradientMode(bool enabled);
  GradientMode(const GradientMode&) = delete;
  GradientMode& operator=(const GradientMode&) = delete;
  ~GradientMode();

 private:
  bool before_;
};

// Keeps operations of this thread out of the graph while it lives.
class NoGradGuard : public GradientMode {
 public:
  NoGradGuard() : GradientMode(false) {}
};

// Computes the gradients of an operation's inputs, in their order, from those of its outputs. The
// gradient of an output that nothing reads is undefined; at least one is defined. A result may be
// undefined where an input needs no gradient, or gets none from here. Each other one has its
// input's shape; one of another type is converted to its input's.
using BackwardOfOutputs = std::function<std::vector<Tensor>(const std::vector<Tensor>& grads)>;
// The same for an operation with one output.
using BackwardOfOutput = std::function<std::vector<Tensor>(const Tensor& grad)>;

// Says whether gradients are on and any of the inputs wants one. Inputs may be undefined, as
// optional parameters are.
bool NeedsGradient(std::span<const Tensor> inputs);
bool NeedsGradient(std::initializer_list<Tensor> inputs);

// Makes `out` a function of `inputs` and returns it. `out` is a new tensor of a floating type that
// has no history, else std::logic_error; what the closure keeps of it must be a detach() of it, or
// neither would ever be freed. An input may be undefined. `name` stands in errors, and lives as
// long as the graph: a literal.
Tensor WithBackward(const char* name, const Tensor& out, std::span<const Tensor> inputs,
                    BackwardOfOutput backward);
Tensor WithBackward(const char* name, const Tensor& out, std::initializer_list<Tensor> inputs,
                    BackwardOfOutput backward);
// The same for several outputs.
void WithBackward(const char* name, std::span<const Tensor> outs, std::span<const Tensor> inputs,
                  BackwardOfOutputs backward);

// Calls `hook` at the end of a leaf's part in each backward pass that leads to it, when its
// gradient is complete, on the thread of the pass. Hooks live as long as the leaf.
void AddGradientHook(const Tensor& leaf, std::function<void()> hook);

}  // namespace tandem::tensor
