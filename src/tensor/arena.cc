#include "tensor/arena.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

namespace tandem::tensor {
namespace {

constexpr size_t kPage = 4096;

size_t WholePages(size_t bytes) { return (std::max<size_t>(bytes, 1) + kPage - 1) / kPage * kPage; }

}  // namespace

Arena::Arena(size_t capacity) : capacity_(WholePages(capacity)) {
  void* range = mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(range);
  free_[0] = capacity_;
}

Arena::~Arena() { munmap(base_, capacity_); }

void* Arena::Take(size_t bytes) {
  const size_t size = WholePages(bytes);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(free_.begin(), free_.end(), [&](const auto& gap) { return gap.second >= size; });
  if (found == free_.end()) return nullptr;
  const size_t offset = found->first;
  if (found->second > size) {
    auto rest = free_.extract(found);  // keeps its node: Take needs no memory
    rest.key() += size;
    rest.mapped() -= size;
    free_.insert(std::move(rest));
  } else {
    free_.erase(found);
  }
  usage_.used += size;
  usage_.most_used = std::max(usage_.most_used, usage_.used);
  usage_.reached = std::max(usage_.reached, offset + size);
  return base_ + offset;
}

void Arena::Give(void* block, size_t bytes) noexcept {
  const size_t size = WholePages(bytes);
  const auto offset = static_cast<size_t>(static_cast<std::byte*>(block) - base_);
  const std::lock_guard lock(mutex_);
  usage_.used -= size;
  const auto gap = free_.emplace(offset, size).first;
  const auto next = std::next(gap);
  if (next != free_.end() && next->first == offset + size) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap == free_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second == offset) {
    before->second += gap->second;
    free_.erase(gap);
  }
}

Arena::Usage Arena::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

namespace {

constexpr size_t kSmallest = size_t{1} << 20;

struct Block {
  Arena* arena;
  void* data;
  size_t bytes;
};

void GiveBack(void* context) {
  const std::unique_ptr<Block> block(static_cast<Block*>(context));
  block->arena->Give(block->data, block->bytes);
}

class ArenaAllocator : public c10::Allocator {
 public:
  ArenaAllocator(size_t capacity, c10::Allocator* other) : arena_(capacity), other_(other) {}

#if TORCH_VERSION_MAJOR >= 2
  c10::DataPtr allocate(size_t bytes) override { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(size_t bytes) const override { return Allocate(bytes); }
#endif

 private:
  c10::DataPtr Allocate(size_t bytes) const {
    if (bytes >= kSmallest) {
      auto block = std::make_unique<Block>(Block{&arena_, nullptr, bytes});
      block->data = arena_.Take(bytes);
      if (void* data = block->data) {
        return {data, block.release(), &GiveBack, c10::Device(c10::DeviceType::CPU)};
      }
    }
    return other_->allocate(bytes);
  }

  mutable Arena arena_;
  c10::Allocator* other_;
};

size_t MachineMemory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

void UseTensorArena() {
#ifndef __SANITIZE_ADDRESS__
  // Never destroyed: tensors of static duration come back after everything else.
  static c10::Allocator* allocator = [] {
    c10::Allocator* system = c10::GetCPUAllocator();
    try {
      return static_cast<c10::Allocator*>(new ArenaAllocator(MachineMemory(), system));
    } catch (const std::bad_alloc&) {  // a limit on addresses (ulimit -v): only slower without
      return system;
    }
  }();
  c10::SetCPUAllocator(allocator);
#endif
}

}  // namespace tandem::tensor
