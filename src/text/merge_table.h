// Which pairs of tokens merge into which token, and the merging of a word's symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/token_table.h"

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
  size_t Probe(uint64_t key) const {
    size_t at = (key * 0x9E3779B97F4A7C15U) >> shift_;
    while (slots_[at].key != key && slots_[at].key != kFree) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  Target Find(int32_t left, int32_t right) const {
    return slots_[Probe(KeyOf(left, right))].target;
  }
  void MergeShort(int32_t* symbols, size_t* count) const;

  std::vector<Slot> slots_ = std::vector<Slot>(2);
  int shift_ = 63;
};

}  // namespace tandem::text
