// The rows that a walk through a graph has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::index {

// A hash set whose size goes with what a walk sees and not with the corpus: a table of all rows
// would cost a search of a hundred million of them 100 MB to clear.
class VisitedRows {
 public:
  VisitedRows() : slots_(kFewest, kEmpty) {}
  // Says whether the row is new; it no longer is then.
  bool Insert(uint32_t row) {
    size_t slot = Slot(row);
    for (; slots_[slot] != kEmpty; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == row) return false;
    }
    slots_[slot] = row;
    if (++size_ * 2 > slots_.size()) Grow();
    return true;
  }
  // Forgets everything. The memory stays, as long as it is what one walk needs.
  void Clear() {
    slots_.assign(
        size_ * 8 < slots_.size() && slots_.size() > kFewest ? slots_.size() / 2 : slots_.size(),
        kEmpty);
    size_ = 0;
  }

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};
  static constexpr size_t kFewest = 4096;  // a power of 2, as all sizes

  // Fibonacci hashing: neighbours in the corpus are often neighbours in the graph.
  size_t Slot(uint32_t row) const {
    return static_cast<size_t>((row * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
  }
  void Grow() {
    std::vector<uint32_t> old(slots_.size() * 2, kEmpty);
    old.swap(slots_);
    for (uint32_t row : old) {
      if (row == kEmpty) continue;
      size_t slot = Slot(row);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = row;
    }
  }

  std::vector<uint32_t> slots_;
  size_t size_ = 0;
};

}  // namespace tandem::index
