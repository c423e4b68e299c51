#include "sampling/composition/composition.h"

#include <algorithm>
#include <utility>

#include "sampling/composition/batch_cells.h"

namespace tandem::sampling {
namespace {

// Random batches that are tried for a query that its own batch cannot take. Most queries share
// their keys with few others, so that one or two are enough; the exchange is for the rest.
constexpr uint32_t kTries = 8;

// Queries are edges between two nodes, their text and their document. A node with a single query
// forbids nothing, so it counts as no node (kNoNode).
class Composer {
 public:
  // `counts` are those of the epoch.
  Composer(std::span<const BatchKeys> epoch, const KeyCounts& counts, const EvenOptions& options,
           RandomStream random)
      : random_(random),
        refuge_(options.refuge),
        batches_(std::max((epoch.size() + options.batch - 1) / options.batch, counts.Most())),
        nodes_(epoch.size()),
        batch_of_(epoch.size(), kNoQuery),
        sizes_(batches_),
        first_free_(counts.texts.size() + counts.documents.size()),
        table_(BindKeys(epoch, counts, nodes_)) {}

  std::vector<uint32_t> Compose() {
    for (uint32_t query = 0; query < nodes_.size(); ++query) {
      if (IsBound(query)) PlaceBound(query);
    }
    PlaceOthers();
    Even();
    return std::move(batch_of_);
  }

 private:
  bool IsBound(uint32_t query) const { return nodes_[query] != KeyNodes{kNoNode, kNoNode}; }

  // Sizes in the end: those of the first n % batches_ batches are one larger than the others'.
  size_t Quota(size_t batch) const {
    return nodes_.size() / batches_ + (batch < nodes_.size() % batches_ ? 1 : 0);
  }
  bool HasRoom(size_t batch) const { return sizes_[batch] < Quota(batch); }

  // The batch of a place in the epoch, if all were filled one after the other.
  uint32_t Home(size_t place) const {
    const size_t small = nodes_.size() / batches_, larger = nodes_.size() % batches_;
    const size_t in_larger = larger * (small + 1);
    return static_cast<uint32_t>(place < in_larger ? place / (small + 1)
                                                   : larger + (place - in_larger) / small);
  }

  bool IsFree(uint32_t node, uint32_t batch) const {
    return node == kNoNode || table_.Find(node, batch) == kNoQuery;
  }

  bool Fits(uint32_t query, uint32_t batch) const {
    return HasRoom(batch) && IsFree(nodes_[query][0], batch) && IsFree(nodes_[query][1], batch);
  }

  void Put(uint32_t query, uint32_t batch) {
    batch_of_[query] = batch;
    ++sizes_[batch];
    for (const uint32_t node : nodes_[query]) {
      if (node != kNoNode) table_.Set(node, batch, query);
    }
  }

  void TakeOut(uint32_t query) {
    const uint32_t batch = std::exchange(batch_of_[query], kNoQuery);
    --sizes_[batch];
    for (const uint32_t node : nodes_[query]) {
      if (node != kNoNode) table_.Set(node, batch, kNoQuery);
    }
  }

  void PlaceBound(uint32_t query) {
    const uint32_t home = Home(query);
    uint32_t batch = home;
    for (uint32_t t = 0; t < kTries && !Fits(query, batch); ++t) {
      batch = refuge_ == Refuge::kNear ? NearBatch(home, t, batches_)
                                       : static_cast<uint32_t>(random_.Below(batches_));
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
    const uint32_t at_text = FreeBatch(text != kNoNode ? text : document);
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
    while (query != kNoQuery) {
      path.push_back(query);
      const uint32_t batch = batch_of_[query];
      node = nodes_[query][0] == node ? nodes_[query][1] : nodes_[query][0];
      query = node == kNoNode ? kNoQuery : table_.Find(node, next);
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
        if (node != kNoNode && IsFree(node, batch)) {
          first_free_[node] = std::min(first_free_[node], batch);
        }
      }
    }
  }

  // Queries that forbid nothing fill up what is left.
  void PlaceOthers() {
    uint32_t open = 0;
    for (uint32_t query = 0; query < nodes_.size(); ++query) {
      if (batch_of_[query] != kNoQuery) continue;
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
  Refuge refuge_;
  size_t batches_;
  std::vector<KeyNodes> nodes_;       // [n]
  std::vector<uint32_t> batch_of_;    // [n]
  std::vector<uint32_t> sizes_;       // [batches]
  std::vector<uint32_t> first_free_;  // of each node: no batch before it is free
  CellTable table_;
};

// Numbers the parts of the keys of one side: the first part of a key keeps its number, the others
// have numbers that no key has.
class KeySplitter {
 public:
  KeySplitter(const std::vector<uint32_t>& counts, size_t batches)
      : seen_(counts.size()), parts_(counts.size()), further_(counts.size()) {
    auto next = static_cast<uint32_t>(counts.size());
    for (size_t key = 0; key < counts.size(); ++key) {
      parts_[key] =
          static_cast<uint32_t>(std::max<size_t>(1, (counts[key] + batches - 1) / batches));
      further_[key] = next;
      next += parts_[key] - 1;
    }
  }

  // The part that the key's next query gets.
  uint32_t PartOf(uint32_t key) {
    if (key == kNoKey) return key;
    const uint32_t part = seen_[key]++ % parts_[key];
    return part == 0 ? key : further_[key] + part - 1;
  }

 private:
  std::vector<uint32_t> seen_;     // [keys] queries so far
  std::vector<uint32_t> parts_;    // [keys]
  std::vector<uint32_t> further_;  // [keys] the number of the key's second part
};

}  // namespace

bool HaveToMeet(size_t most, size_t queries, size_t full) {
  if (most <= full) return false;
  return most > full + std::max<size_t>(1, full / 4) || queries < 2 * most;
}

bool MayMeet(Copies copies, size_t most, size_t queries, size_t full) {
  switch (copies) {
    case Copies::kNever:
      return false;
    case Copies::kWhereTheyMust:
      return HaveToMeet(most, queries, full);
    case Copies::kRatherThanSmallBatches:
      return most > full;
  }
  return false;
}

std::vector<BatchKeys> SplitFrequentKeys(std::span<const BatchKeys> epoch, size_t batches) {
  std::vector<BatchKeys> split(epoch.begin(), epoch.end());
  const KeyCounts counts(epoch);
  KeySplitter texts(counts.texts, batches), documents(counts.documents, batches);
  for (BatchKeys& keys : split) {
    keys.text = texts.PartOf(keys.text);
    keys.document = documents.PartOf(keys.document);
  }
  return split;
}

size_t CountBatches(std::span<const BatchKeys> epoch, size_t batch, Copies copies) {
  const size_t full = (epoch.size() + batch - 1) / batch, most = KeyCounts(epoch).Most();
  if (MayMeet(copies, most, epoch.size(), full)) return full;
  return std::max(full, most);
}

std::vector<uint32_t> ComposeEvenly(std::span<const BatchKeys> epoch, const EvenOptions& options,
                                    RandomStream random) {
  const size_t full = (epoch.size() + options.batch - 1) / options.batch;
  const KeyCounts counts(epoch);
  if (MayMeet(options.copies, counts.Most(), epoch.size(), full)) {
    const std::vector<BatchKeys> split = SplitFrequentKeys(epoch, full);
    return Composer(split, KeyCounts(split), options, random).Compose();
  }
  return Composer(epoch, counts, options, random).Compose();
}

}  // namespace tandem::sampling
