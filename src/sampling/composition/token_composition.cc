#include "sampling/composition/token_composition.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <stdexcept>

#include "sampling/composition/batch_cells.h"

namespace tandem::sampling {
namespace {

// Batches near its own, and then random ones, that are tried for a query that has to go elsewhere.
constexpr uint32_t kNearTries = 8;
constexpr uint32_t kRandomTries = 8;
// Where some queries do not fit, a 64th more batches are tried (at least one more): a few tries
// find the number, which is at most so much too large.
constexpr size_t kMoreBatches = 64;
// Queries that may wait for a batch with room for them, before a batch ends where one does not fit:
// so many are looked at for each batch.
constexpr size_t kMostWaiting = 64;
// The least loaded of this many batches is found by looking at all; among more, by trying as many
// random ones, if any of them has room.
constexpr size_t kFewBatches = 1024;

// The queries of an epoch with their keys as nodes.
struct TokenEpoch {
  TokenEpoch(std::span<const BatchKeys> epoch, std::span<const uint32_t> tokens_in, size_t limit_in)
      : tokens(tokens_in),
        limit(limit_in),
        total(std::accumulate(tokens.begin(), tokens.end(), uint64_t{0})) {
    const KeyCounts counts(epoch);
    most = counts.Most();
    entries = BindKeys(epoch, counts, nodes);
    node_count = counts.texts.size() + counts.documents.size();
    SortBound(counts);
  }

  bool IsBound(uint32_t query) const { return nodes[query] != KeyNodes{kNoNode, kNoNode}; }
  size_t size() const { return nodes.size(); }

  std::span<const uint32_t> tokens;  // [n]
  size_t limit;
  uint64_t total;
  std::vector<KeyNodes> nodes;  // [n]
  size_t node_count = 0;
  size_t entries = 0;
  size_t most = 0;              // queries of one key
  std::vector<uint32_t> bound;  // queries, those with the commonest keys first

 private:
  void SortBound(const KeyCounts& counts) {
    std::vector<uint32_t> weight(nodes.size());
    for (uint32_t query = 0; query < nodes.size(); ++query) {
      if (!IsBound(query)) continue;
      bound.push_back(query);
      const auto [text, document] = nodes[query];
      if (text != kNoNode) weight[query] = counts.texts[text];
      if (document != kNoNode) {
        weight[query] = std::max(weight[query], counts.documents[document - counts.texts.size()]);
      }
    }
    std::stable_sort(bound.begin(), bound.end(),
                     [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
  }
};

// One try with a given number of batches.
class TokenPlacer {
 public:
  TokenPlacer(const TokenEpoch& epoch, size_t batches, RandomStream& random)
      : epoch_(epoch),
        random_(random),
        batch_of_(epoch.size(), kNoQuery),
        loads_(batches),
        first_free_(epoch.node_count),
        table_(epoch.entries) {}

  // Says whether all fit.
  bool Place() { return PlaceBound() && PlaceOthers(); }

  // The batch of each query; batches that nobody came into have no number.
  std::vector<uint32_t> Take() {
    std::vector<uint32_t> numbers(loads_.size());
    uint32_t next = 0;
    for (size_t batch = 0; batch < loads_.size(); ++batch) {
      numbers[batch] = next;
      next += loads_[batch] > 0 ? 1 : 0;
    }
    for (uint32_t& batch : batch_of_) batch = numbers[batch];
    return std::move(batch_of_);
  }

 private:
  size_t batches() const { return loads_.size(); }
  double Mean() const { return static_cast<double>(epoch_.total) / static_cast<double>(batches()); }

  bool IsFree(uint32_t node, uint32_t batch) const {
    return node == kNoNode || table_.Find(node, batch) == kNoQuery;
  }
  bool Fits(uint32_t query, uint32_t batch) const {
    return loads_[batch] + epoch_.tokens[query] <= epoch_.limit &&
           IsFree(epoch_.nodes[query][0], batch) && IsFree(epoch_.nodes[query][1], batch);
  }
  // Says whether the batch has still less than the mean when half of the query is in it.
  bool Needs(uint32_t query, uint32_t batch) const {
    return static_cast<double>(loads_[batch]) + epoch_.tokens[query] / 2.0 <= Mean();
  }

  void Put(uint32_t query, uint32_t batch) {
    batch_of_[query] = batch;
    loads_[batch] += epoch_.tokens[query];
    for (const uint32_t node : epoch_.nodes[query]) {
      if (node != kNoNode) table_.Set(node, batch, query);
    }
  }

  bool PlaceBound() {
    const std::vector<uint32_t> homes = Homes();
    for (const uint32_t query : epoch_.bound) {
      const uint32_t batch = Choose(query, homes[query]);
      if (batch == kNoQuery) return false;
      Put(query, batch);
    }
    return true;
  }

  // The batch of each query, if all had the same number of tokens.
  std::vector<uint32_t> Homes() const {
    std::vector<uint32_t> homes(epoch_.size());
    double before = 0;
    for (uint32_t query = 0; query < homes.size(); ++query) {
      const double middle = before + epoch_.tokens[query] / 2.0;
      homes[query] =
          static_cast<uint32_t>(std::min(middle / Mean(), static_cast<double>(batches() - 1)));
      before += epoch_.tokens[query];
    }
    return homes;
  }

  // kNoQuery: there is none.
  uint32_t Choose(uint32_t query, uint32_t home) {
    const auto is_good = [&](uint32_t batch) { return Fits(query, batch) && Needs(query, batch); };
    if (is_good(home)) return home;
    for (uint32_t t = 0; t < kNearTries; ++t) {
      if (const uint32_t near = NearBatch(home, t, batches()); is_good(near)) return near;
    }
    for (uint32_t t = 0; t < kRandomTries; ++t) {
      const auto other = static_cast<uint32_t>(random_.Below(batches()));
      if (is_good(other)) return other;
    }
    return LeastLoaded(query);
  }

  uint32_t LeastLoaded(uint32_t query) {
    uint32_t best = kNoQuery;
    for (size_t t = 0; batches() > kFewBatches && t < kFewBatches; ++t) {
      const auto batch = static_cast<uint32_t>(random_.Below(batches()));
      if (best != kNoQuery && loads_[batch] >= loads_[best]) continue;
      if (Fits(query, batch)) best = batch;
    }
    return best != kNoQuery ? best : LeastLoadedOfAll(query);
  }

  // Looks at all batches that the query fits into. first_free_ remembers for each node up to where
  // batches have it, since no query leaves its batch.
  uint32_t LeastLoadedOfAll(uint32_t query) {
    uint32_t begin = 0;
    for (const uint32_t node : epoch_.nodes[query]) {
      if (node == kNoNode) continue;
      uint32_t& first = first_free_[node];
      while (first < batches() && !IsFree(node, first)) ++first;
      begin = std::max(begin, first);
    }
    uint32_t best = kNoQuery;
    for (uint32_t batch = begin; batch < batches(); ++batch) {
      if (best != kNoQuery && loads_[batch] >= loads_[best]) continue;
      if (!Fits(query, batch)) continue;
      best = batch;
      if (loads_[batch] == 0) break;
    }
    return best;
  }

  // Fills one batch after the other up to the mean of what is left for it and those after it.
  // A query that is too long for the batch under way waits for the next one; where many wait, the
  // batch ends.
  bool PlaceOthers() {
    uint64_t left = 0;
    std::deque<uint32_t> waiting;
    for (uint32_t query = 0; query < epoch_.size(); ++query) {
      if (batch_of_[query] == kNoQuery) left += epoch_.tokens[query];
    }
    for (const uint64_t load : loads_) left += load;
    uint32_t next = 0;  // query
    for (uint32_t batch = 0; batch < batches(); ++batch) {
      const double target = static_cast<double>(left) / static_cast<double>(batches() - batch);
      if (target > static_cast<double>(epoch_.limit)) return false;
      FillWaiting(batch, target, waiting);
      FillNew(batch, target, next, waiting);
      left -= loads_[batch];
    }
    return waiting.empty() && next == epoch_.size();
  }

  bool IsFull(uint32_t query, uint32_t batch, double target) const {
    return loads_[batch] > 0 &&
           static_cast<double>(loads_[batch]) + epoch_.tokens[query] / 2.0 > target;
  }

  void FillWaiting(uint32_t batch, double target, std::deque<uint32_t>& waiting) {
    for (size_t i = waiting.size(); i > 0; --i) {  // each once, those that stay in their order
      const uint32_t query = waiting.front();
      waiting.pop_front();
      if (loads_[batch] + epoch_.tokens[query] <= epoch_.limit && !IsFull(query, batch, target)) {
        Put(query, batch);
      } else {
        waiting.push_back(query);
      }
    }
  }

  void FillNew(uint32_t batch, double target, uint32_t& next, std::deque<uint32_t>& waiting) {
    while (next < epoch_.size()) {
      const uint32_t query = next;
      if (batch_of_[query] == kNoQuery) {
        if (IsFull(query, batch, target)) return;
        if (loads_[batch] + epoch_.tokens[query] <= epoch_.limit) {
          Put(query, batch);
        } else {
          if (waiting.size() == kMostWaiting) return;
          waiting.push_back(query);
        }
      }
      ++next;
    }
  }

  const TokenEpoch& epoch_;
  RandomStream& random_;
  std::vector<uint32_t> batch_of_;    // [n]
  std::vector<uint64_t> loads_;       // [batches] tokens
  std::vector<uint32_t> first_free_;  // of each node: no batch before it is free
  CellTable table_;
};

// As few batches as all tokens fill.
size_t FewestBatches(std::span<const uint32_t> tokens, size_t limit) {
  const uint64_t total = std::accumulate(tokens.begin(), tokens.end(), uint64_t{0});
  return std::max<size_t>(1, (total + limit - 1) / limit);
}

}  // namespace

std::vector<uint32_t> ComposeByTokens(std::span<const BatchKeys> epoch,
                                      std::span<const uint32_t> tokens, const TokenOptions& options,
                                      RandomStream random) {
  const size_t limit = options.limit;
  if (std::any_of(tokens.begin(), tokens.end(),
                  [limit](uint32_t t) { return t == 0 || t > limit; })) {
    throw std::invalid_argument("a query has no tokens, or more than a batch may have");
  }
  const size_t full = FewestBatches(tokens, limit);
  std::vector<BatchKeys> split;
  if (MayMeet(options.copies, KeyCounts(epoch).Most(), epoch.size(), full)) {
    split = SplitFrequentKeys(epoch, full);
    epoch = split;
  }
  const TokenEpoch all(epoch, tokens, limit);
  const size_t most = std::max<size_t>(1, epoch.size());
  size_t batches = std::max(all.most, full);
  while (true) {
    batches = std::min(batches, most);  // then each query may have a batch of its own
    TokenPlacer placer(all, batches, random);
    if (placer.Place()) return placer.Take();
    batches += std::max<size_t>(1, batches / kMoreBatches);
  }
}

}  // namespace tandem::sampling
