// Memory that a thread reuses from call to call, so that nothing is allocated after the first step.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>

namespace tandem::tensor::cpu {

// Hands out arrays, one after the other, from a block of memory. AllocateScratch makes it.
class Scratch {
 public:
  // Only measures where `block` is null: the arrays are null.
  explicit Scratch(std::byte* block) : block_(block) {}

  // An uninitialised array, aligned to a cache line, which is also the widest vector.
  template <typename T>
  T* Allocate(size_t count) {
    T* array = block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + bytes_);
    bytes_ += WholeLines(count * sizeof(T));
    return array;
  }
  size_t bytes() const { return bytes_; }  // handed out so far

  static constexpr size_t kLine = 64;
  static constexpr size_t WholeLines(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

 private:
  std::byte* block_;
  size_t bytes_ = 0;
};

// The calling thread's block for `User`, of at least `bytes` bytes. Its content is lost when it
// grows.
template <typename User>
std::byte* ThreadBlock(size_t bytes) {
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  thread_local std::unique_ptr<std::byte, Free> block;
  thread_local size_t size = 0;
  if (size < bytes) {
    size = 0;
    block.reset(
        static_cast<std::byte*>(std::aligned_alloc(Scratch::kLine, Scratch::WholeLines(bytes))));
    if (!block) throw std::bad_alloc();
    size = Scratch::WholeLines(bytes);
  }
  return block.get();
}

// Returns what `layout(Scratch&)` returns: the arrays that it allocates, usually a struct of
// pointers. They are valid until the same thread calls this for the same `User` again; kernels that
// call each other have a User each, a type that only names them.
//
// `layout` runs twice, first to measure how large the block must be: the layout is the only place
// that knows. Throws std::logic_error when the second run asks for other sizes than the first.
template <typename User = void, typename Layout>
auto AllocateScratch(const Layout& layout) {
  Scratch measured(nullptr);
  layout(measured);
  Scratch scratch(ThreadBlock<User>(measured.bytes()));
  auto arrays = layout(scratch);
  if (scratch.bytes() != measured.bytes()) {
    throw std::logic_error("a scratch layout must ask for the same sizes each time it runs");
  }
  return arrays;
}

// A single array.
template <typename T, typename User = void>
T* AllocateScratchArray(size_t count) {
  return AllocateScratch<User>([count](Scratch& scratch) { return scratch.Allocate<T>(count); });
}

}  // namespace tandem::tensor::cpu
