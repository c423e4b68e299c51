#include "libtorch/traced.h"

#include <ATen/core/grad_mode.h>

#include <memory>
#include <utility>

#include "libtorch/bridge.h"
#include "libtorch/graph.h"
#include "libtorch/memory_errors.h"
#include "tensor/core/gradients/tape.h"

namespace tandem::libtorch {
namespace {

using tensor::Tensor;

std::vector<Tensor> Untraced(std::span<const Tensor> inputs, const TorchFunctions& function) {
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> all;
  for (const Tensor& input : inputs) all.push_back(AsTorch(input));
  std::vector<Tensor> outs;
  for (const at::Tensor& out : function(all)) outs.push_back(FromTorch(out));
  return outs;
}

// The gradients that libtorch gave, as Tandem's. One that is the memory of an incoming gradient, or
// of one before it, is that tensor: a pass writes into a gradient that nobody else holds, and must
// see who does.
class Gradients {
 public:
  explicit Gradients(const std::vector<Tensor>& incoming) {
    for (const Tensor& grad : incoming) {
      if (grad.defined()) known_.push_back(grad);
    }
  }

  Tensor Of(const at::Tensor& grad) {
    if (!grad.defined()) return {};
    Tensor own = FromTorch(grad);
    for (const Tensor& other : known_) {
      if (own.numel() == 0 || own.data_ptr() != other.data_ptr()) continue;
      const bool same = own.sizes() == other.sizes() && own.dtype() == other.dtype();
      return same ? other : own.clone();
    }
    known_.push_back(own);
    return own;
  }

 private:
  std::vector<Tensor> known_;
};

struct Trace {
  Subgraph graph;
  std::vector<size_t> wanted;    // the inputs that want gradients
  std::vector<Tensor> outs;      // all
  std::vector<Tensor> recorded;  // those that have gradients
};

Trace TraceOf(std::span<const Tensor> inputs, const TorchFunctions& function) {
  const at::AutoGradMode gradients_on(true);
  Trace trace;
  std::vector<at::Tensor> all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    all.push_back(AsTorch(inputs[i]));
    if (!inputs[i].defined() || !inputs[i].requires_grad()) continue;
    trace.graph.AddInput(all.back());
    trace.wanted.push_back(i);
  }
  for (const at::Tensor& out : function(all)) {
    trace.outs.push_back(FromTorch(out));
    if (!out.defined() || !out.requires_grad()) continue;
    trace.graph.AddOutput(out);
    trace.recorded.push_back(trace.outs.back());
  }
  return trace;
}

std::vector<Tensor> BackwardOf(Subgraph* graph, const std::vector<size_t>& wanted, size_t inputs,
                               const std::vector<Tensor>& grads) {
  return WithMemoryErrors([&] {
    const std::vector<at::Tensor> own = graph->Backward(AsTorch(grads));
    Gradients gradients(grads);
    std::vector<Tensor> results(inputs);
    for (size_t i = 0; i < wanted.size(); ++i) results[wanted[i]] = gradients.Of(own[i]);
    return results;
  });
}

}  // namespace

std::vector<Tensor> TracedSeveral(const char* name, std::span<const Tensor> inputs,
                                  const TorchFunctions& function) {
  if (!tensor::NeedsGradient(inputs)) {
    return WithMemoryErrors([&] { return Untraced(inputs, function); });
  }
  Trace trace = WithMemoryErrors([&] { return TraceOf(inputs, function); });
  if (trace.recorded.empty()) return trace.outs;
  // Closures are copied; the graph is not.
  auto graph = std::make_shared<Subgraph>(std::move(trace.graph));
  tensor::WithBackward(name, trace.recorded, inputs,
                       [graph = std::move(graph), wanted = std::move(trace.wanted),
                        count = inputs.size()](const std::vector<Tensor>& grads) {
                         return BackwardOf(graph.get(), wanted, count, grads);
                       });
  return trace.outs;
}

Tensor Traced(const char* name, std::span<const Tensor> inputs, const TorchFunction& function) {
  return TracedSeveral(name, inputs, [&](const std::vector<at::Tensor>& all) {
    return std::vector{function(all)};
  })[0];
}

Tensor Traced(const char* name, std::initializer_list<Tensor> inputs,
              const TorchFunction& function) {
  return Traced(name, std::span(inputs.begin(), inputs.size()), function);
}

}  // namespace tandem::libtorch
