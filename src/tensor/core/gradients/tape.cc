#include "tensor/core/gradients/tape.h"

#include <fmt/format.h>

#include <atomic>
#include <stdexcept>
#include <utility>

#include "tensor/core/gradients/history.h"

namespace tandem::tensor {
namespace {

thread_local bool grad_enabled = true;

// One for all threads: of operations of one thread the later one has the larger number, which alone
// matters.
uint64_t NextSequence() {
  static std::atomic<uint64_t> next = 0;
  return next.fetch_add(1, std::memory_order_relaxed);
}

void CheckOutput(const char* name, const Tensor& out) {
  if (!IsFloating(out.dtype())) {
    throw std::logic_error(
        fmt::format("{}: expected an output with gradients, found {}", name, out.Text()));
  }
  const auto& history = out.body().history;
  if (history != nullptr && (history->node != nullptr || history->wanted)) {
    throw std::logic_error(fmt::format(
        "{}: expected a new tensor as output, found {} that has a history", name, out.Text()));
  }
}

}  // namespace

bool GradEnabled() { return grad_enabled; }

GradientMode::GradientMode(bool enabled) : before_(std::exchange(grad_enabled, enabled)) {}
GradientMode::~GradientMode() { grad_enabled = before_; }

bool NeedsGradient(std::span<const Tensor> inputs) {
  if (!grad_enabled) return false;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

bool NeedsGradient(std::initializer_list<Tensor> inputs) {
  return NeedsGradient(std::span(inputs.begin(), inputs.size()));
}

void WithBackward(const char* name, std::span<const Tensor> outs, std::span<const Tensor> inputs,
                  BackwardOfOutputs backward) {
  for (const Tensor& out : outs) CheckOutput(name, out);
  const auto node = std::make_shared<internal::Node>();
  node->name = name;
  node->sequence = NextSequence();
  node->backward = std::move(backward);
  node->edges.reserve(inputs.size());
  for (const Tensor& input : inputs) node->edges.push_back(internal::EdgeOf(input));
  for (size_t i = 0; i < outs.size(); ++i) {
    node->outputs.push_back({outs[i].sizes(), outs[i].dtype(), outs[i].device()});
    internal::History& history = internal::HistoryOf(outs[i]);
    history.node = node;
    history.output = i;
  }
}

Tensor WithBackward(const char* name, const Tensor& out, std::span<const Tensor> inputs,
                    BackwardOfOutput backward) {
  WithBackward(name, std::span(&out, 1), inputs,
               [backward = std::move(backward)](const std::vector<Tensor>& grads) {
                 return backward(grads[0]);
               });
  return out;
}

Tensor WithBackward(const char* name, const Tensor& out, std::initializer_list<Tensor> inputs,
                    BackwardOfOutput backward) {
  return WithBackward(name, out, std::span(inputs.begin(), inputs.size()), std::move(backward));
}

void AddGradientHook(const Tensor& leaf, std::function<void()> hook) {
  if (!leaf.is_leaf()) {
    throw std::logic_error(fmt::format(
        "AddGradientHook: expected a leaf, found an operation's output {}", leaf.Text()));
  }
  internal::History& history = internal::HistoryOf(leaf);
  const std::lock_guard lock(history.mutex);
  history.hooks.push_back(std::move(hook));
}

}  // namespace tandem::tensor
