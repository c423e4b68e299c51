#include "data/arena.h"

#include <algorithm>
#include <cstring>

namespace tandem::data {
namespace {

// Large enough that the allocator hands out whole pages, small enough to waste little in tests.
constexpr size_t kBlockBytes = size_t{1} << 18;

}  // namespace

std::string_view Arena::Copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (bytes.size() > left_) {
    const size_t block = std::max(kBlockBytes, bytes.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
    free_ = blocks_.back().get();
    left_ = block;
  }
  std::memcpy(free_, bytes.data(), bytes.size());
  const std::string_view copy(free_, bytes.size());
  free_ += bytes.size();
  left_ -= bytes.size();
  return copy;
}

}  // namespace tandem::data
