// Hides the differences between the versions of libtorch that Tandem builds with (1.13 to 2.15), in
// one place.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace tandem::libtorch {

// The pointer type by which a graph's edges own their nodes: std::shared_ptr<Node>, or
// c10::intrusive_ptr<Node> in newer versions.
using NodePointer = decltype(torch::autograd::Edge::function);

// A node of type `Derived` that the graph can own, made from `arguments`.
template <typename Derived, typename... Arguments>
NodePointer MakeNode(Arguments&&... arguments) {
  if constexpr (std::is_same_v<NodePointer, std::shared_ptr<torch::autograd::Node>>) {
    // libtorch's deleteNode destroys long chains of nodes without recursion. Only the versions with
    // shared_ptr have it. `node` is generic, so that compilers look the name up only where this
    // lambda is used.
    return NodePointer(new Derived(std::forward<Arguments>(arguments)...),
                       [](auto* node) { deleteNode(node); });
  } else {
    return c10::make_intrusive<Derived>(std::forward<Arguments>(arguments)...);
  }
}

}  // namespace tandem::libtorch
