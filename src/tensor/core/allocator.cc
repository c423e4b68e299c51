#include "tensor/core/allocator.h"

#include <atomic>
#include <new>

namespace tandem::tensor {
namespace {

class AlignedNew final : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    return ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow);
  }
  void Free(void* block, size_t /*bytes*/) noexcept override {
    ::operator delete (block, std::align_val_t{kAlignment});
  }
};

std::atomic<Allocator*>& Current() {
  static std::atomic<Allocator*> current = &PlainAllocator();
  return current;
}

}  // namespace

// Never destroyed: tensors that static objects hold are freed at any time.
Allocator& PlainAllocator() {
  static auto* plain = new AlignedNew;
  return *plain;
}

Allocator& CurrentAllocator() { return *Current().load(std::memory_order_acquire); }

Allocator& SetAllocator(Allocator& allocator) {
  return *Current().exchange(&allocator, std::memory_order_acq_rel);
}

}  // namespace tandem::tensor
