// Records for compositions which query has a text or document in which batch, and how often each
// occurs. Internal to the compositions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sampling/composition/composition.h"

namespace tandem::sampling {

inline constexpr uint32_t kNoQuery = UINT32_MAX;
// Texts and documents are nodes. One that has a single query forbids nothing, so it counts as none.
inline constexpr uint32_t kNoNode = UINT32_MAX;
using KeyNodes = std::array<uint32_t, 2>;  // of a query: its text's, its document's

// Finds the query that has a given node in a given batch: a hash table with linear probing, at most
// half full. An erased entry keeps its slot, because the same node and batch may come again.
class CellTable {
 public:
  explicit CellTable(size_t expected) { Allocate(2 * expected + 2); }

  // The query, or kNoQuery.
  uint32_t Find(uint32_t node, uint32_t batch) const {
    const Slot& slot = slots_[Place(Key(node, batch))];
    return slot.key == kFree ? kNoQuery : slot.query;
  }

  // `query` kNoQuery erases.
  void Set(uint32_t node, uint32_t batch, uint32_t query) {
    const uint64_t key = Key(node, batch);
    Slot* slot = &slots_[Place(key)];
    if (slot->key == kFree) {
      if (2 * (used_ + 1) > slots_.size()) {
        Grow();
        slot = &slots_[Place(key)];
      }
      slot->key = key;
      ++used_;
    }
    slot->query = query;
  }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  struct Slot {
    uint64_t key = kFree;
    uint32_t query = kNoQuery;
  };

  static uint64_t Key(uint32_t node, uint32_t batch) { return uint64_t{node} << 32 | batch; }

  // Finds the place where the key is, or would go.
  size_t Place(uint64_t key) const {
    size_t at = ((key * 0x9e3779b97f4a7c15) >> 20) & mask_;  // spreads both halves
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask_;
    return at;
  }

  void Allocate(size_t least) {
    size_t size = 16;
    while (size < least) size *= 2;
    slots_.assign(size, Slot{});
    mask_ = size - 1;
    used_ = 0;
  }

  void Grow() {
    std::vector<Slot> old = std::move(slots_);
    Allocate(2 * old.size());
    for (const Slot& slot : old) {
      if (slot.key == kFree || slot.query == kNoQuery) continue;
      slots_[Place(slot.key)] = slot;
      ++used_;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t used_ = 0;
};

// Says how often each key occurs on each side.
struct KeyCounts {
  explicit KeyCounts(std::span<const BatchKeys> epoch) {
    for (const BatchKeys& keys : epoch) {
      Count(keys.text, texts);
      Count(keys.document, documents);
    }
  }

  size_t Most() const {
    size_t most = 0;
    for (const auto* counts : {&texts, &documents}) {
      for (const uint32_t count : *counts) most = std::max<size_t>(most, count);
    }
    return most;
  }

  std::vector<uint32_t> texts, documents;

 private:
  static void Count(uint32_t key, std::vector<uint32_t>& counts) {
    if (key == kNoKey) return;
    if (key >= counts.size()) counts.resize(key + size_t{1});
    ++counts[key];
  }
};

// The nodes of each query. Returns how many there are that forbid something: entries that a
// CellTable of the epoch will have.
inline size_t BindKeys(std::span<const BatchKeys> epoch, const KeyCounts& counts,
                       std::vector<KeyNodes>& nodes) {
  const auto documents_from = static_cast<uint32_t>(counts.texts.size());
  nodes.resize(epoch.size());
  size_t entries = 0;
  for (size_t query = 0; query < epoch.size(); ++query) {
    const auto [text, document] = epoch[query];
    const bool text_binds = text != kNoKey && counts.texts[text] > 1;
    const bool document_binds = document != kNoKey && counts.documents[document] > 1;
    nodes[query] = {text_binds ? text : kNoNode,
                    document_binds ? documents_from + document : kNoNode};
    entries += (text_binds ? 1 : 0) + (document_binds ? 1 : 0);
  }
  return entries;
}

// The batch that is tried `turn` turns after `home`: the next one, the one before, the one after
// the next, ...; the first or last where there are no more.
inline uint32_t NearBatch(uint32_t home, uint32_t turn, size_t batches) {
  const size_t distance = turn / 2 + 1;
  if (turn % 2 == 0) return static_cast<uint32_t>(std::min(home + distance, batches - 1));
  return static_cast<uint32_t>(home - std::min<size_t>(home, distance));
}

}  // namespace tandem::sampling
