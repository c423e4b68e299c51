// What the graph keeps of a tensor: for this library's own sources.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tensor/core/gradients/sparse_rows.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor::internal {

struct Node;

// A tensor as an operation's input: where its gradient goes. A null node: nowhere.
struct Edge {
  std::shared_ptr<Node> node;
  size_t output = 0;  // of that node
};

// What the gradient of an output has to be.
struct OutputKind {
  Shape shape;
  DType type;
  Device device;
};

// An operation, or a leaf, whose closure adds to its gradient.
struct Node {
  static constexpr uint64_t kLeafSequence = UINT64_MAX;  // leaves run as soon as they can

  const char* name = "";
  uint64_t sequence = kLeafSequence;  // operations are numbered in the order in which they are made
  BackwardOfOutputs backward;         // empty once it has run, but for leaves
  std::vector<OutputKind> outputs;
  std::vector<Edge> edges;  // one for each input; none once it has run

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // Frees a long chain of nodes without recursion.

  bool leaf() const { return sequence == kLeafSequence; }
};

struct History {
  // Of an operation's output; null for a leaf.
  std::shared_ptr<Node> node;
  size_t output = 0;

  // Of a leaf. The mutex guards what follows, but for `wanted`, which is set before the leaf is
  // used.
  bool wanted = false;
  std::mutex mutex;
  std::weak_ptr<Node> accumulator;  // lives while a graph leads to the leaf
  Tensor grad;
  std::optional<SparseRows> rows;  // instead of `grad`
  std::vector<std::function<void()>> hooks;
};

// Makes it where there is none.
History& HistoryOf(const Tensor& tensor);

// Where a tensor's gradient goes.
Edge EdgeOf(const Tensor& tensor);

// Says whether a gradient is not all of the memory that it holds.
bool IsPartOfBlock(const Tensor& gradient);

// Adds a gradient that was passed to a leaf. It is kept where nobody else holds it, else copied. A
// part of a block must be in nobody else's hands.
void AddGradient(const Tensor& leaf, const Tensor& gradient);

// Adds rows to those of a whole gradient.
void AddRows(const SparseRows& rows, const Tensor& whole);

// Tensor::backward.
void RunBackward(const Tensor& root, const Tensor& gradient);

}  // namespace tandem::tensor::internal
