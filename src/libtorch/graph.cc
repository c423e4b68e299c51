#include "libtorch/graph.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "libtorch/libtorch_versions.h"

namespace tandem::libtorch {
namespace {

using torch::autograd::Edge;
using torch::autograd::variable_list;

class ClosureNode final : public torch::autograd::Node {
 public:
  ClosureNode(std::string name, Backward backward)
      : name_(std::move(name)), backward_(std::move(backward)) {}

  variable_list apply(variable_list&& grads) override {
    if (!backward_) {
      throw std::logic_error(name_ + ": backward pass asked for a second time");
    }
    return grads[0].defined() ? backward_(grads[0].contiguous()) : variable_list(num_outputs());
  }
  void release_variables() override { backward_ = nullptr; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  Backward backward_;
};

// Where the gradients of a subgraph's inputs arrive. The engine takes them before it would call it.
class SourceNode final : public torch::autograd::Node {
 public:
  variable_list apply(variable_list&&) override {
    throw std::logic_error("a subgraph's inputs have no backward pass of their own");
  }
  std::string name() const override { return "Source"; }
};

}  // namespace

bool NeedsGradient(at::ArrayRef<at::Tensor> inputs) {
  if (!at::GradMode::is_enabled()) return false;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

at::Tensor WithBackward(const char* name, at::Tensor out, at::ArrayRef<at::Tensor> inputs,
                        Backward backward) {
  const NodePointer node = MakeNode<ClosureNode>(name, std::move(backward));
  torch::autograd::edge_list edges;
  for (const at::Tensor& input : inputs) {
    edges.push_back(input.defined() ? torch::autograd::impl::gradient_edge(input) : Edge());
  }
  node->set_next_edges(std::move(edges));
  torch::autograd::set_history(out, node);
  return out;
}

struct Subgraph::State {
  NodePointer source = MakeNode<SourceNode>();
  torch::autograd::edge_list inputs, outputs;
};

Subgraph::Subgraph() : state_(std::make_unique<State>()) {}
Subgraph::~Subgraph() = default;
Subgraph::Subgraph(Subgraph&&) noexcept = default;
Subgraph& Subgraph::operator=(Subgraph&&) noexcept = default;

void Subgraph::AddInput(const at::Tensor& x) {
  at::Tensor input = x;
  torch::autograd::set_history(input, state_->source);
  state_->inputs.push_back(torch::autograd::impl::gradient_edge(input));
}

void Subgraph::AddOutput(const at::Tensor& x) {
  state_->outputs.push_back(x.requires_grad() ? torch::autograd::impl::gradient_edge(x) : Edge());
}

std::vector<at::Tensor> Subgraph::Backward(const std::vector<at::Tensor>& grads) {
  const std::unique_ptr<State> state = std::move(state_);  // freed when this returns
  torch::autograd::edge_list roots;
  variable_list defined;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || !state->outputs[i].is_valid()) continue;
    roots.push_back(state->outputs[i]);
    defined.push_back(grads[i]);
  }
  if (roots.empty()) return variable_list(state->inputs.size());
  return torch::autograd::Engine::get_default_engine().execute(
      roots, defined, /*keep_graph=*/false, /*create_graph=*/false, /*accumulate_grad=*/false,
      state->inputs);
}

}  // namespace tandem::libtorch
