#include "tensor/core/gradients/history.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tensor/core/make.h"

namespace tandem::tensor {
namespace internal {

Node::~Node() {
  std::vector<Edge> chain = std::move(edges);
  while (!chain.empty()) {
    const std::shared_ptr<Node> node = std::move(chain.back().node);
    chain.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    for (Edge& edge : node->edges) chain.push_back(std::move(edge));
    node->edges.clear();
  }
}

History& HistoryOf(const Tensor& tensor) {
  std::shared_ptr<History>& history = tensor.body().history;
  if (history == nullptr) history = std::make_shared<History>();
  return *history;
}

Edge EdgeOf(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad()) return {};
  History& history = *tensor.body().history;
  if (history.node != nullptr) return {history.node, history.output};
  const std::lock_guard lock(history.mutex);
  std::shared_ptr<Node> node = history.accumulator.lock();
  if (node == nullptr) {
    node = std::make_shared<Node>();
    node->name = "leaf";
    node->outputs = {{tensor.sizes(), tensor.dtype(), tensor.device()}};
    node->backward = [leaf = tensor](const std::vector<Tensor>& gradients) {
      AddGradient(leaf, gradients[0]);
      return std::vector<Tensor>();
    };
    history.accumulator = node;
  }
  return {std::move(node), 0};
}

bool IsPartOfBlock(const Tensor& gradient) {
  return gradient.nbytes() < gradient.storage()->bytes();
}

namespace {

// Says whether a gradient whose one handle is the pass's may be kept as it is. A part of a larger
// block may: an operation computes the gradients of several stacked parameters in one block, each
// in a part of its own. The pass copies parts that others have too.
bool MayKeep(const Tensor& gradient) {
  return gradient.OnlyHandle() && (gradient.storage().unique() || IsPartOfBlock(gradient));
}

}  // namespace

void AddGradient(const Tensor& leaf, const Tensor& gradient) {
  History& history = *leaf.body().history;
  std::vector<std::function<void()>> hooks;
  {
    const std::lock_guard lock(history.mutex);
    if (gradient.defined()) {
      if (history.grad.defined()) {
        history.grad.add_(gradient);
      } else {
        history.grad = MayKeep(gradient) ? gradient.detach() : gradient.clone();
        if (history.rows) AddRows(*std::exchange(history.rows, {}), history.grad);
      }
    }
    hooks = history.hooks;
  }
  for (const auto& hook : hooks) hook();
}

}  // namespace internal

bool Tensor::requires_grad() const {
  const auto& history = body().history;
  return history != nullptr && (history->node != nullptr || history->wanted);
}

bool Tensor::is_leaf() const {
  return body().history == nullptr || body_->history->node == nullptr;
}

const Tensor& Tensor::set_requires_grad(bool wanted) const {
  if (!is_leaf()) {
    throw std::logic_error(
        fmt::format("set_requires_grad: expected a leaf, found an operation's output {}", Text()));
  }
  if (wanted && !IsFloating(dtype())) {
    throw std::logic_error(
        fmt::format("set_requires_grad: {} has no gradient, only floating types have", Text()));
  }
  if (wanted || body_->history != nullptr) internal::HistoryOf(*this).wanted = wanted;
  return *this;
}

Tensor Tensor::grad() const {
  const auto& history = body().history;
  if (history == nullptr) return {};
  if (history->rows) {
    throw std::logic_error(
        fmt::format("grad: the gradient of {} is rows: read row_grad()", Text()));
  }
  return history->grad;
}

const SparseRows* Tensor::row_grad() const {
  const auto& history = body().history;
  return history != nullptr && history->rows ? &*history->rows : nullptr;
}

void Tensor::set_grad(Tensor gradient) const {
  if (gradient.defined() && (gradient.sizes() != sizes() || gradient.dtype() != dtype() ||
                             gradient.device() != device())) {
    throw std::logic_error(
        fmt::format("set_grad: the gradient of {} is {}", Text(), gradient.Text()));
  }
  if (body_->history == nullptr && !gradient.defined()) return;
  internal::History& history = internal::HistoryOf(*this);
  const std::lock_guard lock(history.mutex);
  history.grad = std::move(gradient);
  history.rows.reset();
}

void Tensor::backward(const Tensor& gradient) const { internal::RunBackward(*this, gradient); }

}  // namespace tandem::tensor
