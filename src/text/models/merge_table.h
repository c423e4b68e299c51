// Says which pairs of tokens merge into which token, and merges a word's symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/models/token_table.h"

namespace tandem::text {

// One merge as a tokenizer's file spells it.
struct MergeNames {
  std::string_view left, right;
};

class MergeTable {
 public:
  MergeTable() = default;
  // The merge at index r has rank r; of two equal merges the later one counts, as in the
  // `tokenizers` package. The token that a merge makes is its left part and its right part without
  // `prefix`. Throws ModelError naming `file` and the merge when `tokens` lacks one of the three or
  // the right part does not start with `prefix`.
  MergeTable(std::span<const MergeNames> merges, const TokenTable& tokens, std::string_view prefix,
             const std::string& file);

  // Merges `symbols` until no pair of neighbours can merge: always the pair of the lowest rank, the
  // leftmost of those. O(n log n) time for n symbols.
  void Merge(std::vector<int32_t>* symbols, size_t first) const;

 private:
  static constexpr uint32_t kNoRank = UINT32_MAX;
  struct Target {
    uint32_t rank = kNoRank;
    int32_t id = -1;
  };
  struct Slot {
    uint64_t key = kFree;
    Target target;
  };
  static constexpr uint64_t kFree = UINT64_MAX;
  class LongWord;

  static uint64_t KeyOf(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  static uint64_t HashOf(uint64_t key) {
    const uint64_t mixed = key * 0x9E3779B97F4A7C15U;
    return (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9U;
  }
  size_t Probe(uint64_t key) const {
    size_t at = HashOf(key) & (slots_.size() - 1);
    while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  // The bit of the filter that is set where a merge with this hash exists.
  std::pair<size_t, uint64_t> FilterBit(uint64_t hash) const {
    const uint64_t bit = hash >> filter_shift_;
    return {bit / 64, uint64_t{1} << bit % 64};
  }
  Target Find(int32_t left, int32_t right) const {
    const uint64_t key = KeyOf(left, right);
    const auto [word, bit] = FilterBit(HashOf(key));
    return (filter_[word] & bit) == 0 ? Target{} : slots_[Probe(key)].target;
  }
  void MergeShort(int32_t* symbols, size_t* count) const;

  std::vector<Slot> slots_ = std::vector<Slot>(2);  // open addressing; a power of two
  // Most pairs that are looked up do not merge. The filter knows nearly all of these, and unlike
  // the slots of a large vocabulary it fits into a core's second-level cache.
  std::vector<uint64_t> filter_ = std::vector<uint64_t>(1);
  int filter_shift_ = 58;
};

}  // namespace tandem::text
