#include "tensor/memory/allocation_count.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace tandem::tensor {
namespace {

// Allocates with another allocator and counts the bytes. The data pointer and the context of an
// allocation are the same address, because some parts of libtorch ask for plain memory and rely on
// that.
class CountingAllocator final : public c10::Allocator {
 public:
  // The only object. It is never destroyed, because tensors that it allocated may be freed at any
  // time.
  static CountingAllocator& Get() {
    static auto* allocator = new CountingAllocator;
    return *allocator;
  }

  void Begin(c10::Allocator* other) {
    const std::lock_guard lock(mutex_);
    other_ = other;
    now_ = most_ = 0;
    ++period_;
  }
  c10::Allocator* other() const { return other_; }
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

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(size_t bytes) override { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(size_t bytes) const override { return Get().Allocate(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return &Free; }

 private:
  struct Block {
    c10::Allocator* from;
    size_t bytes;
    int period;  // of the count that it belongs to
  };

  c10::DataPtr Allocate(size_t bytes) {
    void* data = other_->raw_allocate(bytes);
    if (data != nullptr) {
      const std::lock_guard lock(mutex_);
      blocks_[data] = {other_, bytes, period_};
      now_ += bytes;
      most_ = std::max(most_, now_);
    }
    return {data, data, &Free, c10::Device(c10::DeviceType::CPU)};
  }

  static void Free(void* data) {
    if (data == nullptr) return;
    CountingAllocator& self = Get();
    Block block{};
    {
      const std::lock_guard lock(self.mutex_);
      const auto found = self.blocks_.find(data);
      block = found->second;
      self.blocks_.erase(found);
      if (block.period == self.period_) self.now_ -= block.bytes;
    }
    block.from->raw_deallocate(data);
  }

  c10::Allocator* other_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<void*, Block> blocks_;
  int period_ = 0;
  uint64_t now_ = 0;
  uint64_t most_ = 0;
};

}  // namespace

AllocationCount::AllocationCount() {
  CountingAllocator& allocator = CountingAllocator::Get();
  allocator.Begin(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&allocator);
}

AllocationCount::~AllocationCount() { c10::SetCPUAllocator(CountingAllocator::Get().other()); }

uint64_t AllocationCount::now() const { return CountingAllocator::Get().now(); }
uint64_t AllocationCount::most() const { return CountingAllocator::Get().most(); }
void AllocationCount::ResetMost() { CountingAllocator::Get().ResetMost(); }

}  // namespace tandem::tensor
