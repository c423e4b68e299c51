// Memory that a thread reuses from call to call: no allocation after the first step.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace tandem::tensor::cpu {

// Hands out pieces of one growing block per thread and user. A kernel reserves once, then takes
// pieces; the next Reserve of the same user on the same thread takes them all back. Users who call
// each other have a type each, which only names them.
class Scratch {
 public:
  // The calling thread's block, at least `bytes` large.
  template <typename User = void>
  static Scratch Reserve(size_t bytes) {
    thread_local Block block;
    if (block.size < bytes) {
      block.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, RoundUp(bytes))));
      if (!block.memory) throw std::bad_alloc();
      block.size = RoundUp(bytes);
    }
    return Scratch(block.memory.get());
  }

  template <typename T>
  T* Take(size_t count) {
    T* piece = reinterpret_cast<T*>(next_);
    next_ += Bytes<T>(count);
    return piece;
  }

  // What `Take<T>(count)` uses up.
  template <typename T>
  static size_t Bytes(size_t count) {
    return RoundUp(count * sizeof(T));
  }

 private:
  static constexpr size_t kAlignment = 64;  // a cache line, and the widest vector
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    size_t size = 0;
  };
  static size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  explicit Scratch(std::byte* next) : next_(next) {}
  std::byte* next_;
};

}  // namespace tandem::tensor::cpu
