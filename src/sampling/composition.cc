#include "sampling/composition.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::sampling {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// Random batches that are tried for a query that its own batch cannot take. Most queries share
// their keys with few others, so that one or two are enough; the exchange is for the rest.
constexpr int kTries = 8;

// Finds the query that has a given node in a given batch: a hash table with linear probing, at most
// half full. An erased entry keeps its slot, because the same node and batch may come again.
class CellTable {
 public:
  explicit CellTable(size_t expected) { Allocate(2 * expected + 2); }

  // The query, or kNone.
  uint32_t Find(uint32_t node, uint32_t batch) const {
    const Slot& slot = slots_[Place(Key(node, batch))];
    return slot.key == kFree ? kNone : slot.query;
  }

  // `query` kNone erases.
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
    uint32_t query = kNone;
  };

  static uint64_t Key(uint32_t node, uint32_t batch) { return uint64_t{node} << 32 | batch; }

  // Where the key is, or would go.
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
      if (slot.key == kFree || slot.query == kNone) continue;
      slots_[Place(slot.key)] = slot;
      ++used_;
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t used_ = 0;
};

// How often each key occurs on each side.
struct KeyCounts {
  explicit KeyCounts(std::span<const BatchKeys> pass) {
    for (const BatchKeys& keys : pass) {
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

// Queries are edges between two nodes, their text and their document. A node with a single query
// forbids nothing, so it counts as no node (kNone).
class Composer {
 public:
  Composer(std::span<const BatchKeys> pass, size_t batch, RandomStream random)
      : Composer(pass, batch, random, KeyCounts(pass)) {}

  std::vector<uint32_t> Compose() {
    for (uint32_t query = 0; query < nodes_.size(); ++query) {
      if (IsBound(query)) PlaceBound(query);
    }
    PlaceOthers();
    Even();
    return std::move(batch_of_);
  }

 private:
  using Nodes = std::array<uint32_t, 2>;  // of a query: its text's, its document's

  Composer(std::span<const BatchKeys> pass, size_t batch, RandomStream random,
           const KeyCounts& counts)
      : random_(random),
        batches_(std::max((pass.size() + batch - 1) / batch, counts.Most())),
        nodes_(pass.size()),
        batch_of_(pass.size(), kNone),
        sizes_(batches_),
        first_free_(counts.texts.size() + counts.documents.size()),
        table_(Bind(pass, counts)) {}

  // Fills nodes_; returns how many entries the table will have.
  size_t Bind(std::span<const BatchKeys> pass, const KeyCounts& counts) {
    const auto documents_from = static_cast<uint32_t>(counts.texts.size());
    size_t entries = 0;
    for (size_t query = 0; query < pass.size(); ++query) {
      const auto [text, document] = pass[query];
      const bool text_binds = text != kNoKey && counts.texts[text] > 1;
      const bool document_binds = document != kNoKey && counts.documents[document] > 1;
      nodes_[query] = {text_binds ? text : kNone,
                       document_binds ? documents_from + document : kNone};
      entries += (text_binds ? 1 : 0) + (document_binds ? 1 : 0);
    }
    return entries;
  }

  bool IsBound(uint32_t query) const { return nodes_[query] != Nodes{kNone, kNone}; }

  // Sizes in the end: those of the first n % batches_ batches are one larger than the others'.
  size_t Quota(size_t batch) const {
    return nodes_.size() / batches_ + (batch < nodes_.size() % batches_ ? 1 : 0);
  }
  bool HasRoom(size_t batch) const { return sizes_[batch] < Quota(batch); }

  // The batch of a place in the pass, if all were filled one after the other.
  uint32_t Home(size_t place) const {
    const size_t small = nodes_.size() / batches_, larger = nodes_.size() % batches_;
    const size_t in_larger = larger * (small + 1);
    return static_cast<uint32_t>(place < in_larger ? place / (small + 1)
                                                   : larger + (place - in_larger) / small);
  }

  bool IsFree(uint32_t node, uint32_t batch) const {
    return node == kNone || table_.Find(node, batch) == kNone;
  }

  bool Fits(uint32_t query, uint32_t batch) const {
    return HasRoom(batch) && IsFree(nodes_[query][0], batch) && IsFree(nodes_[query][1], batch);
  }

  void Put(uint32_t query, uint32_t batch) {
    batch_of_[query] = batch;
    ++sizes_[batch];
    for (const uint32_t node : nodes_[query]) {
      if (node != kNone) table_.Set(node, batch, query);
    }
  }

  void TakeOut(uint32_t query) {
    const uint32_t batch = std::exchange(batch_of_[query], kNone);
    --sizes_[batch];
    for (const uint32_t node : nodes_[query]) {
      if (node != kNone) table_.Set(node, batch, kNone);
    }
  }

  void PlaceBound(uint32_t query) {
    uint32_t batch = Home(query);
    for (int t = 0; t < kTries && !Fits(query, batch); ++t) {
      batch = static_cast<uint32_t>(random_.Below(batches_));
    }
    if (Fits(query, batch)) {
      Put(query, batch);
    } else {
      PlaceByExchange(query);
    }
  }

  // Returns a batch in which no query has the node. There is one: no node has more queries than
  // there are batches, and one of this node's queries is not placed yet. first_free_ remembers
  // where the last search ended, so that all calls together look at each batch of a node about
  // once.
  uint32_t FreeBatch(uint32_t node) {
    while (!IsFree(node, first_free_[node])) ++first_free_[node];
    return first_free_[node];
  }

  // Places a query by Koenig's step. One batch is free at the query's text, another one at its
  // document. The step follows the path of queries of these two batches that begins at the
  // document, and exchanges the batches along it. The path cannot reach the text, so the first
  // batch is then free at both. Batches may become larger than their quota.
  void PlaceByExchange(uint32_t query) {
    const auto [text, document] = nodes_[query];
    const uint32_t at_text = FreeBatch(text != kNone ? text : document);
    if (!IsFree(document, at_text)) {
      const uint32_t at_document = FreeBatch(document);
      Exchange(Path(table_.Find(document, at_text), document, at_document), at_text, at_document);
    }
    Put(query, at_text);
  }

  // The path that begins with `query` and leads away from `node`, one of its two nodes. Its queries
  // belong to the batch of `query` and to the batch `other` by turns.
  std::vector<uint32_t> Path(uint32_t query, uint32_t node, uint32_t other) const {
    std::vector<uint32_t> path;
    uint32_t next = other;
    while (query != kNone) {
      path.push_back(query);
      const uint32_t batch = batch_of_[query];
      node = nodes_[query][0] == node ? nodes_[query][1] : nodes_[query][0];
      query = node == kNone ? kNone : table_.Find(node, next);
      next = batch;
    }
    return path;
  }

  void Exchange(const std::vector<uint32_t>& path, uint32_t one, uint32_t other) {
    std::vector<uint32_t> target;
    for (const uint32_t query : path) target.push_back(batch_of_[query] == one ? other : one);
    for (const uint32_t query : path) TakeOut(query);
    for (size_t i = 0; i < path.size(); ++i) Put(path[i], target[i]);
    for (const uint32_t last : {path.front(), path.back()}) {  // nodes inside have both as before
      for (const uint32_t node : nodes_[last]) {
        const uint32_t batch = batch_of_[last] == one ? other : one;
        if (node != kNone && IsFree(node, batch)) {
          first_free_[node] = std::min(first_free_[node], batch);
        }
      }
    }
  }

  // Queries that forbid nothing fill up what is left.
  void PlaceOthers() {
    uint32_t open = 0;
    for (uint32_t query = 0; query < nodes_.size(); ++query) {
      if (batch_of_[query] != kNone) continue;
      const uint32_t home = Home(query);
      while (!HasRoom(home) && !HasRoom(open)) ++open;
      Put(query, HasRoom(home) ? home : open);
    }
  }

  // Moves queries from batches that exchanges made too large to those that are too small.
  void Even() {
    std::vector<uint32_t> large, small;
    for (uint32_t batch = 0; batch < batches_; ++batch) {
      if (sizes_[batch] > Quota(batch)) large.push_back(batch);
      if (HasRoom(batch)) small.push_back(batch);
    }
    if (large.empty()) return;
    std::vector<std::vector<uint32_t>> members(batches_);  // also those that have left since
    for (uint32_t query = 0; query < nodes_.size(); ++query) {
      members[batch_of_[query]].push_back(query);
    }
    for (const uint32_t from : large) {
      while (sizes_[from] > Quota(from)) {
        while (!HasRoom(small.back())) small.pop_back();
        MoveOne(from, small.back(), members);
      }
    }
  }

  // Makes `from` one smaller and `to` one larger. The queries of the two make paths and cycles;
  // since `from` has more of them, some path begins and ends with one of its own.
  void MoveOne(uint32_t from, uint32_t to, std::vector<std::vector<uint32_t>>& members) {
    for (const uint32_t query : members[from]) {
      if (batch_of_[query] != from) continue;
      for (const uint32_t end : nodes_[query]) {
        if (!IsFree(end, to)) continue;
        const std::vector<uint32_t> path = Path(query, end, to);
        if (path.size() % 2 == 0) continue;  // ends with one of `to`
        Exchange(path, from, to);
        for (const uint32_t moved : path) members[batch_of_[moved]].push_back(moved);
        return;
      }
    }
  }

  RandomStream random_;
  size_t batches_;
  std::vector<Nodes> nodes_;          // [n]
  std::vector<uint32_t> batch_of_;    // [n]
  std::vector<uint32_t> sizes_;       // [batches]
  std::vector<uint32_t> first_free_;  // of each node: no batch before it is free
  CellTable table_;
};

}  // namespace

size_t CountBatches(std::span<const BatchKeys> pass, size_t batch) {
  return std::max((pass.size() + batch - 1) / batch, KeyCounts(pass).Most());
}

std::vector<uint32_t> ComposeEvenly(std::span<const BatchKeys> pass, size_t batch,
                                    RandomStream random) {
  return Composer(pass, batch, random).Compose();
}

}  // namespace tandem::sampling
