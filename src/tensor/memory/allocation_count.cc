#include "tensor/memory/allocation_count.h"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "tensor/core/allocator.h"
#include "tensor/core/storage.h"

namespace tandem::tensor {
namespace {

// Allocates with another allocator and counts the bytes of tensors, without their storages'
// headers.
class CountingAllocator final : public Allocator {
 public:
  // The only object. It is never destroyed, because tensors that it allocated may be freed at any
  // time.
  static CountingAllocator& Get() {
    static auto* allocator = new CountingAllocator;
    return *allocator;
  }

  void Begin(Allocator& other) {
    const std::lock_guard lock(mutex_);
    other_ = &other;
    now_ = most_ = 0;
    ++period_;
  }
  Allocator& other() const { return *other_; }
  uint64_t now() {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  uint64_t most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }
  void ResetMost() {
    const std::lock_guard lock(mutex_);
    most_ = now_;
  }

  void* Allocate(size_t bytes) override {
    void* data = other_->Allocate(bytes);
    if (data == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    blocks_[data] = {other_, period_};
    now_ += bytes - kStorageHeader;
    most_ = std::max(most_, now_);
    return data;
  }
  void Free(void* data, size_t bytes) noexcept override {
    Block block{};
    {
      const std::lock_guard lock(mutex_);
      block = blocks_.extract(data).mapped();
      if (block.period == period_) now_ -= bytes - kStorageHeader;
    }
    block.from->Free(data, bytes);
  }

 private:
  struct Block {
    Allocator* from;
    int period;  // of the count that it belongs to
  };

  Allocator* other_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  int period_ = 0;
  uint64_t now_ = 0;
  uint64_t most_ = 0;
};

}  // namespace

AllocationCount::AllocationCount() {
  CountingAllocator& allocator = CountingAllocator::Get();
  allocator.Begin(CurrentAllocator());
  SetAllocator(allocator);
}

AllocationCount::~AllocationCount() { SetAllocator(CountingAllocator::Get().other()); }

uint64_t AllocationCount::now() const { return CountingAllocator::Get().now(); }
uint64_t AllocationCount::most() const { return CountingAllocator::Get().most(); }
void AllocationCount::ResetMost() { CountingAllocator::Get().ResetMost(); }

}  // namespace tandem::tensor
