#include "tensor/autograd.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/libtorch_versions.h"

namespace tandem::tensor {
namespace {

class ClosureNode final : public torch::autograd::Node {
 public:
  ClosureNode(std::string name, BackwardOfSeveral backward)
      : name_(std::move(name)), backward_(std::move(backward)) {}

  torch::autograd::variable_list apply(torch::autograd::variable_list&& grads) override {
    if (!backward_) {
      throw std::logic_error(name_ + ": backward pass asked for a second time");
    }
    bool any = false;
    for (at::Tensor& grad : grads) {
      if (!grad.defined()) continue;
      any = true;
      grad = grad.contiguous();
    }
    return any ? backward_(grads) : torch::autograd::variable_list(num_outputs());
  }
  void release_variables() override { backward_ = nullptr; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  BackwardOfSeveral backward_;
};

}  // namespace

bool NeedsGradient(at::ArrayRef<at::Tensor> inputs) {
  if (!at::GradMode::is_enabled()) return false;
  for (const at::Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

void WithBackward(const char* name, at::ArrayRef<at::Tensor> outs, at::ArrayRef<at::Tensor> inputs,
                  BackwardOfSeveral backward) {
  const NodePointer node = MakeNode<ClosureNode>(name, std::move(backward));
  torch::autograd::edge_list edges;
  for (const at::Tensor& input : inputs) {
    edges.push_back(input.defined() ? torch::autograd::impl::gradient_edge(input)
                                    : torch::autograd::Edge());
  }
  node->set_next_edges(std::move(edges));
  for (at::Tensor out : outs) torch::autograd::set_history(out, node);
}

at::Tensor WithBackward(const char* name, at::Tensor out, at::ArrayRef<at::Tensor> inputs,
                        Backward backward) {
  WithBackward(name, at::ArrayRef<at::Tensor>(out), inputs,
               [backward = std::move(backward)](const std::vector<at::Tensor>& grads) {
                 return backward(grads[0]);
               });
  return out;
}

}  // namespace tandem::tensor
