#include "data/texts/arena.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem::data {
namespace {

// Large enough that the allocator hands out whole pages, small enough to waste little in tests. A
// corpus of gigabytes gets larger ones. (Asking the kernel for huge pages made reading slower on
// the virtual machine where it was measured.)
constexpr size_t kSmallestBlock = size_t{1} << 18;
constexpr size_t kLargestBlock = size_t{1} << 25;

}  // namespace

char* Arena::Take(size_t bytes) {
  if (bytes > left_) {
    const size_t block = std::max(std::clamp(held_ / 8, kSmallestBlock, kLargestBlock), bytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    held_ += block;
    free_ = blocks_.back().get();
    left_ = block;
  }
  char* taken = free_;
  free_ += bytes;
  left_ -= bytes;
  return taken;
}

std::string_view Arena::Copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* copy = Take(bytes.size());
  std::memcpy(copy, bytes.data(), bytes.size());
  return {copy, bytes.size()};
}

const char* Arena::CopyBoth(std::string_view first, std::string_view second) {
  char* copy = Take(first.size() + second.size());
  if (!first.empty()) std::memcpy(copy, first.data(), first.size());
  if (!second.empty()) std::memcpy(copy + first.size(), second.data(), second.size());
  return copy;
}

void Arena::TakeOver(Arena other) {
  for (std::unique_ptr<char[]>& block : other.blocks_) blocks_.push_back(std::move(block));
  held_ += other.held_;
}

}  // namespace tandem::data
