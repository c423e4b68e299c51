#include "tensor/memory/page_arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <utility>

#include "base/process/memory.h"
#include "tensor/core/allocator.h"

namespace tandem::tensor {
namespace {

// Linux for arm64 may have pages of 64 KiB. Blocks must not share a page: Trim would drop what the
// block after a gap has in its last one.
size_t WholePages(size_t bytes) {
  static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return (std::max<size_t>(bytes, 1) + page - 1) / page * page;
}

}  // namespace

// PROT_NONE: the range neither counts as committed memory nor appears in core dumps.
PageArena::PageArena(size_t capacity) : capacity_(WholePages(capacity)) {
  void* range = mmap(nullptr, capacity_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(range);
  madvise(base_, capacity_, MADV_HUGEPAGE);  // a hint; may fail
  gaps_[0] = capacity_;
}

PageArena::~PageArena() { munmap(base_, capacity_); }

bool PageArena::MakeUsable(size_t end) {
  if (end <= usable_) return true;
  constexpr size_t kStep = size_t{64} << 20;
  const size_t wanted = std::min((end + kStep - 1) / kStep * kStep, capacity_);
  if (mprotect(base_ + usable_, wanted - usable_, PROT_READ | PROT_WRITE) != 0) return false;
  usable_ = wanted;
  return true;
}

void* PageArena::Allocate(size_t bytes) {
  if (bytes > capacity_) return nullptr;
  const size_t size = WholePages(bytes);
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(gaps_.begin(), gaps_.end(), [&](const auto& gap) { return gap.second >= size; });
  if (found == gaps_.end() || !MakeUsable(found->first + size)) return nullptr;
  const size_t offset = found->first, rest = found->second - size;
  blocks_.emplace(offset, size);
  if (rest > 0) gaps_.emplace_hint(std::next(found), offset + size, rest);
  gaps_.erase(found);
  usage_.used += size;
  usage_.most_used = std::max(usage_.most_used, usage_.used);
  usage_.reached = std::max(usage_.reached, offset + size);
  return base_ + offset;
}

void PageArena::Free(void* block) noexcept {
  const auto offset = static_cast<size_t>(static_cast<std::byte*>(block) - base_);
  const std::lock_guard lock(mutex_);
  auto node = blocks_.extract(offset);  // reused as the gap: Free allocates no memory
  const size_t size = node.mapped();
  usage_.used -= size;
  const auto gap = gaps_.insert(std::move(node)).position;
  const auto next = std::next(gap);
  if (next != gaps_.end() && next->first == offset + size) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second == offset) {
    before->second += gap->second;
    gaps_.erase(gap);
  }
}

void PageArena::Trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [offset, size] : gaps_) {
    if (offset < usable_) madvise(base_ + offset, std::min(size, usable_ - offset), MADV_DONTNEED);
  }
}

PageArena::Usage PageArena::usage() const {
  const std::lock_guard lock(mutex_);
  return usage_;
}

namespace {

// Smaller tensors stay with the C library. With 1 MiB here, 16 threads that encode texts of their
// own took 600 MB instead of 480, because the C library keeps the memory of each thread apart. With
// 128 KiB, training took 3 % more, because of gaps between the gradients of weights.
constexpr size_t kSmallest = size_t{256} << 10;

bool AddressesAreLimited() {
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

class ArenaAllocator final : public Allocator {
 public:
  // The only object. It is never destroyed, because tensors of static duration are freed after
  // everything else. It is null where addresses are limited or cannot be reserved; the process is
  // then only slower.
  static ArenaAllocator* Get() {
    static ArenaAllocator* allocator = []() -> ArenaAllocator* {
      if (AddressesAreLimited()) return nullptr;
      try {
        return new ArenaAllocator(UsableMemory());
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
    }();
    return allocator;
  }
  void Trim() { arena_.Trim(); }

  void* Allocate(size_t bytes) override {
    if (bytes >= kSmallest) {
      if (void* block = arena_.Allocate(bytes)) return block;
    }
    return PlainAllocator().Allocate(bytes);
  }
  void Free(void* block, size_t bytes) noexcept override {
    if (arena_.Contains(block)) {
      arena_.Free(block);
    } else {
      PlainAllocator().Free(block, bytes);
    }
  }

 private:
  explicit ArenaAllocator(size_t capacity) : arena_(capacity) {}

  PageArena arena_;
};

std::atomic<bool> in_use{false};  // UseTensorArena was called

}  // namespace

void UseTensorArena() {
#ifndef __SANITIZE_ADDRESS__
  if (ArenaAllocator* allocator = ArenaAllocator::Get()) {
    SetAllocator(*allocator);
    in_use = true;
  }
#endif
}

void TrimTensorArena() {
  if (in_use) ArenaAllocator::Get()->Trim();
}

}  // namespace tandem::tensor
