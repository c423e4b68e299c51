// Walks the graph: Tensor::backward.
#include <fmt/format.h>

#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensor/core/gradients/history.h"
#include "tensor/core/make.h"

namespace tandem::tensor::internal {
namespace {

// Adds a gradient to those that came before it; into their memory where nobody else reads it.
void Add(Tensor gradient, Tensor& sum) {
  if (!sum.defined()) {
    sum = std::move(gradient);
  } else if (sum.Exclusive()) {
    sum.add_(gradient);
  } else if (gradient.Exclusive()) {
    gradient.add_(sum);
    sum = std::move(gradient);
  } else {
    sum = sum.clone();
    sum.add_(gradient);
  }
}

bool Overlap(const Tensor& a, const Tensor& b) {
  const auto begin = [](const Tensor& x) { return static_cast<const std::byte*>(x.data_ptr()); };
  return begin(a) < begin(b) + b.nbytes() && begin(b) < begin(a) + a.nbytes();
}

// Says whether an operation gave gradient `index` memory that is its alone, though it may be a part
// of a block: nobody but the operation's other results holds the block, and these are other parts.
bool HasOwnMemory(const std::vector<Tensor>& results, size_t index) {
  const Tensor& gradient = results[index];
  uint32_t holders = 1;
  for (size_t i = 0; i < results.size(); ++i) {
    if (i == index || !results[i].defined() || !results[i].SharesStorage(gradient)) continue;
    if (Overlap(results[i], gradient)) return false;
    ++holders;
  }
  return gradient.storage().holders() == holders;
}

class Pass {
 public:
  Pass(Edge root, Tensor gradient) {
    CountReaders(root.node.get());
    Waiting& first = waiting_[root.node.get()];
    first.gradients.resize(root.node->outputs.size());
    first.gradients[root.output] = std::move(gradient);
    ready_.push({root.node, 0});
  }

  void Run() {
    while (!ready_.empty()) {
      const std::shared_ptr<Node> node = ready_.top().node;
      ready_.pop();
      // Taken out first: it is freed when the closure is done with it.
      std::vector<Tensor> gradients = std::move(waiting_.at(node.get()).gradients);
      waiting_.erase(node.get());
      if (node->leaf()) {
        node->backward(gradients);
        continue;
      }
      const std::vector<Edge> edges = std::exchange(node->edges, {});
      std::vector<Tensor> results = Call(*node, edges.size(), std::move(gradients));
      CopyLentParts(edges, &results);
      for (size_t i = 0; i < edges.size(); ++i) {
        if (edges[i].node != nullptr) Send(*node, edges[i], i, std::move(results[i]));
      }
    }
  }

 private:
  struct Waiting {
    size_t readers = 0;             // that have not run yet
    std::vector<Tensor> gradients;  // of the outputs, as far as they came
  };
  struct Ready {
    std::shared_ptr<Node> node;
    uint64_t arrival;

    bool operator<(const Ready& other) const {
      if (node->sequence != other.node->sequence) return node->sequence < other.node->sequence;
      return arrival > other.arrival;
    }
  };

  // Throws before anything has run where a part of the graph has been walked already.
  void CountReaders(Node* root) {
    std::vector<Node*> unseen = {root};
    waiting_[root];
    while (!unseen.empty()) {
      Node* node = unseen.back();
      unseen.pop_back();
      if (!node->backward) {
        throw std::logic_error(
            fmt::format("{}: backward pass asked for a second time", node->name));
      }
      for (const Edge& edge : node->edges) {
        if (edge.node == nullptr) continue;
        const auto [entry, is_new] = waiting_.try_emplace(edge.node.get());
        ++entry->second.readers;
        if (is_new) unseen.push_back(edge.node.get());
      }
    }
  }

  // The closure's results, one for each input. It is released when this returns.
  static std::vector<Tensor> Call(Node& node, size_t inputs, std::vector<Tensor> gradients) {
    const BackwardOfOutputs backward = std::exchange(node.backward, nullptr);
    bool any = false;
    for (const Tensor& gradient : gradients) any = any || gradient.defined();
    if (!any) return std::vector<Tensor>(inputs);
    std::vector<Tensor> results = backward(gradients);
    if (results.size() != inputs) {
      throw std::logic_error(fmt::format("{}: expected a gradient for each of {} inputs, found {}",
                                         node.name, inputs, results.size()));
    }
    return results;
  }

  // Leaves keep parts of blocks as they are (AddGradient), so that others must not have these too.
  static void CopyLentParts(const std::vector<Edge>& edges, std::vector<Tensor>* results) {
    std::vector<bool> lent(edges.size());
    for (size_t i = 0; i < edges.size(); ++i) {
      const bool of_leaf = edges[i].node != nullptr && edges[i].node->leaf();
      const Tensor& result = (*results)[i];
      lent[i] = of_leaf && result.defined() && IsPartOfBlock(result) && !HasOwnMemory(*results, i);
    }
    for (size_t i = 0; i < edges.size(); ++i) {
      if (lent[i]) (*results)[i] = (*results)[i].clone();
    }
  }

  [[noreturn]] static void ThrowWrongGradient(const Node& from, size_t input,
                                              const Tensor& gradient, const OutputKind& kind) {
    const bool moved = gradient.device() != kind.device;
    throw std::logic_error(fmt::format("{}: the gradient of input {} is {}{}, expected {}{}",
                                       from.name, input, gradient.sizes().Text(),
                                       moved ? " on " + gradient.device().str() : "",
                                       kind.shape.Text(), moved ? " on " + kind.device.str() : ""));
  }

  void Send(const Node& from, const Edge& edge, size_t input, Tensor gradient) {
    Waiting& waiting = waiting_.at(edge.node.get());
    waiting.gradients.resize(edge.node->outputs.size());
    if (gradient.defined()) {
      const OutputKind& kind = edge.node->outputs[edge.output];
      if (gradient.sizes() != kind.shape || gradient.device() != kind.device) {
        ThrowWrongGradient(from, input, gradient, kind);
      }
      if (gradient.dtype() != kind.type) gradient = gradient.to(kind.type);
      Add(std::move(gradient), waiting.gradients[edge.output]);
    }
    if (--waiting.readers == 0) ready_.push({edge.node, ++arrivals_});
  }

  std::unordered_map<Node*, Waiting> waiting_;
  std::priority_queue<Ready> ready_;
  uint64_t arrivals_ = 0;
};

void CheckRoot(const Tensor& root, const Tensor& gradient) {
  if (!root.requires_grad()) {
    throw std::logic_error(
        fmt::format("backward: {} is a function of no tensor that wants a gradient", root.Text()));
  }
  if (!gradient.defined()) {
    if (root.numel() == 1) return;
    throw std::logic_error(fmt::format(
        "backward: without a gradient a tensor must have one element, found {}", root.Text()));
  }
  if (gradient.sizes() == root.sizes() && gradient.dtype() == root.dtype() &&
      gradient.device() == root.device()) {
    return;
  }
  throw std::logic_error(
      fmt::format("backward: the gradient of {} is {}", root.Text(), gradient.Text()));
}

}  // namespace

void RunBackward(const Tensor& root, const Tensor& gradient) {
  CheckRoot(root, gradient);
  const NoGradGuard no_gradient;
  Tensor first = gradient.defined() ? gradient : Full(root.sizes(), 1, root.dtype(), root.device());
  Pass(EdgeOf(root), std::move(first)).Run();
}

}  // namespace tandem::tensor::internal
