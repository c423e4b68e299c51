#include "text/models/merge_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "base/error.h"

namespace tandem::text {
namespace {

// Up to this many symbols, searching all pairs for the best one is faster than keeping a heap.
constexpr size_t kShortWord = 48;
constexpr size_t kFilterBits = 8;  // for each merge, at least

[[noreturn]] void FailMerge(const std::string& file, size_t rank, const MergeNames& merge,
                            std::string_view what) {
  throw ModelError(file, "",
                   fmt::format("model.merges[{}]: \"{}\" and \"{}\" cannot merge: {}", rank,
                               merge.left, merge.right, what));
}

int32_t IdOf(const std::string& file, size_t rank, const MergeNames& merge, std::string_view token,
             const TokenTable& tokens) {
  const int32_t id = tokens.Find(token);
  if (id < 0) {
    FailMerge(file, rank, merge, fmt::format("\"{}\" is not in the vocabulary", token));
  }
  return id;
}

}  // namespace

MergeTable::MergeTable(std::span<const MergeNames> merges, const TokenTable& tokens,
                       std::string_view prefix, const std::string& file)
    : slots_(std::bit_ceil(merges.size() * 3 / 2 + 2)),
      filter_(std::bit_ceil(merges.size() * kFilterBits / 64 + 1)),
      filter_shift_(64 - 6 - std::countr_zero(filter_.size())) {
  std::string joined;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const MergeNames& merge = merges[rank];
    if (!merge.right.starts_with(prefix)) {
      FailMerge(file, rank, merge,
                fmt::format("the second part does not start with the prefix \"{}\"", prefix));
    }
    joined.assign(merge.left);
    joined += merge.right.substr(prefix.size());
    const int32_t left = IdOf(file, rank, merge, merge.left, tokens);
    const int32_t right = IdOf(file, rank, merge, merge.right, tokens);
    const int32_t id = IdOf(file, rank, merge, joined, tokens);
    const uint64_t key = KeyOf(left, right);
    slots_[Probe(key)] = {key, {static_cast<uint32_t>(rank), id}};
    const auto [word, bit] = FilterBit(HashOf(key));
    filter_[word] |= bit;
  }
}

// Keeps the ranks of all pairs in an array: each merge searches it once and looks up two new pairs.
void MergeTable::MergeShort(int32_t* symbols, size_t* count) const {
  std::array<uint32_t, kShortWord> ranks;  // of the pair of symbol i and its neighbour on the right
  std::array<int32_t, kShortWord> merged;  // the symbol that the pair becomes
  size_t n = *count;
  const auto look_up = [&](size_t i) {
    const Target target = Find(symbols[i], symbols[i + 1]);
    ranks[i] = target.rank;
    merged[i] = target.id;
  };
  for (size_t i = 0; i + 1 < n; ++i) look_up(i);
  while (n > 1) {
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(n - 1);
    const auto best = std::min_element(ranks.begin(), end);  // the first of the lowest
    if (*best == kNoRank) break;
    const auto at = static_cast<size_t>(best - ranks.begin());
    symbols[at] = merged[at];
    std::copy(symbols + at + 2, symbols + n, symbols + at + 1);
    --n;
    if (at + 1 < n) {
      std::copy(ranks.begin() + static_cast<std::ptrdiff_t>(at) + 2, end, best + 1);
      std::copy(merged.data() + at + 2, merged.data() + n, merged.data() + at + 1);
      look_up(at);
    }
    if (at > 0) look_up(at - 1);
  }
  *count = n;
}

// Symbols as a linked list, and a heap of pairs by rank, then place. A pair whose symbols have
// merged otherwise stays in the heap and is passed over: ranks_ no longer has its rank, since no
// two pairs share one and a merged symbol never comes back.
class MergeTable::LongWord {
 public:
  LongWord(const MergeTable& table, std::span<int32_t> symbols)
      : table_(table),
        symbols_(symbols),
        size_(static_cast<uint32_t>(symbols.size())),
        previous_(size_),
        next_(size_),
        targets_(size_) {
    for (uint32_t i = 0; i < size_; ++i) {
      previous_[i] = i - 1;  // of the first: never used
      next_[i] = i + 1;
    }
    for (uint32_t i = 0; i + 1 < size_; ++i) {
      targets_[i] = table_.Find(symbols_[i], symbols_[i + 1]);
      if (targets_[i].rank != kNoRank) heap_.push_back(EntryOf(i));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  // Returns how many symbols are left; they are at the front.
  size_t Merge() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const uint64_t entry = heap_.back();
      heap_.pop_back();
      const auto at = static_cast<uint32_t>(entry);
      if (targets_[at].rank == entry >> 32) MergeAt(at);
    }
    size_t count = 0;
    for (uint32_t i = 0; i < size_; i = next_[i]) symbols_[count++] = symbols_[i];
    return count;
  }

 private:
  uint64_t EntryOf(uint32_t at) const { return uint64_t{targets_[at].rank} << 32 | at; }

  void MergeAt(uint32_t at) {
    const uint32_t gone = next_[at];
    symbols_[at] = targets_[at].id;
    targets_[gone] = {};
    next_[at] = next_[gone];
    if (next_[at] < size_) previous_[next_[at]] = at;
    LookUp(at);
    if (at > 0) LookUp(previous_[at]);
  }

  void LookUp(uint32_t at) {
    targets_[at] = next_[at] < size_ ? table_.Find(symbols_[at], symbols_[next_[at]]) : Target{};
    if (targets_[at].rank == kNoRank) return;
    heap_.push_back(EntryOf(at));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  const MergeTable& table_;
  std::span<int32_t> symbols_;
  uint32_t size_;
  std::vector<uint32_t> previous_, next_;  // places of the neighbours; size_: none
  std::vector<Target> targets_;            // of the pair of a symbol and the next one
  std::vector<uint64_t> heap_;             // rank << 32 | place
};

void MergeTable::Merge(std::vector<int32_t>* symbols, size_t first) const {
  size_t count = symbols->size() - first;
  if (count <= kShortWord) {
    MergeShort(symbols->data() + first, &count);
  } else {
    count = LongWord(*this, std::span(*symbols).subspan(first)).Merge();
  }
  symbols->resize(first + count);
}

}  // namespace tandem::text
