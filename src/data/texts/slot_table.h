// A hash table that maps keys, which it does not store, to 32-bit indices. A slot has 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tandem::data {

// Open addressing with linear probing, at most three quarters full: a key that is not there is then
// compared with 8 slots on average, which are one or two cache lines. The caller owns the keys,
// gives their hashes and says when two keys are equal.
class SlotTable {
 public:
  // The index stored under `hash` for which `equal(index)` holds.
  template <typename Equal>
  std::optional<uint32_t> Find(uint64_t hash, const Equal& equal) const {
    if (slots_.empty()) return std::nullopt;
    const uint32_t tag = Tag(hash);
    for (size_t at = tag & mask_; slots_[at].index != kFree; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag && equal(slots_[at].index)) return slots_[at].index;
    }
    return std::nullopt;
  }

  // Adds an index whose key is not there yet. `index` must be below 2^32 - 1.
  void Insert(uint64_t hash, uint32_t index) {
    MakeRoom();
    Place({Tag(hash), index});
    ++size_;
  }

  // Returns the result of Find; if that is nothing, adds `index` for the key. Looks at the slots
  // only once.
  template <typename Equal>
  std::optional<uint32_t> FindOrInsert(uint64_t hash, uint32_t index, const Equal& equal) {
    MakeRoom();
    const uint32_t tag = Tag(hash);
    size_t at = tag & mask_;
    for (; slots_[at].index != kFree; at = (at + 1) & mask_) {
      if (slots_[at].tag == tag && equal(slots_[at].index)) return slots_[at].index;
    }
    slots_[at] = {tag, index};
    ++size_;
    return std::nullopt;
  }

  // Takes everything out, and makes room for `count` keys. Keeps its memory, for a table that is
  // filled again and again.
  void Reset(size_t count) {
    size_t slots = 16;
    while (count * 4 > slots * 3) slots *= 2;
    slots_.assign(slots, Slot{0, kFree});
    mask_ = slots - 1;
    size_ = 0;
  }

  void Clear() {
    slots_.clear();
    size_ = 0;
    mask_ = 0;
  }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t tag;
    uint32_t index;
  };

  static uint32_t Tag(uint64_t hash) { return static_cast<uint32_t>(hash ^ (hash >> 32)); }

  // Makes room for one index more.
  void MakeRoom() {
    if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
  }

  void Place(Slot slot) {
    size_t at = slot.tag & mask_;
    while (slots_[at].index != kFree) at = (at + 1) & mask_;
    slots_[at] = slot;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2, Slot{0, kFree});
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.index != kFree) Place(slot);
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t size_ = 0;
};

}  // namespace tandem::data
