// Hides the differences between the versions of libtorch that Tandem builds with (1.13 to 2.15), in
// one place.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function.h>
#include <torch/version.h>

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace tandem::tensor {

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

// An allocator of plain memory that implements Allocate and raw_deleter. From 2.3 on c10::Allocator
// declares `allocate` without const and asks for copy_data.
class PlainAllocator : public c10::Allocator {
 public:
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(size_t bytes) final { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const final {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(size_t bytes) const final { return Allocate(bytes); }
#endif

 private:
  virtual c10::DataPtr Allocate(size_t bytes) const = 0;
};

}  // namespace tandem::tensor
