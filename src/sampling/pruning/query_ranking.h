// The queries of an epoch by their scores: who is still undrawn, who of these is best, and how many
// drawn ones are better by now.
//
// A query is drawn once an epoch, and only a drawn one's score changes. So the undrawn keep the
// order that the epoch began with: it is sorted once, and the best undrawn one moves along it. A
// drawn query's new score only asks between which of the epoch's first scores it lies; that place
// is counted. The rank of the best undrawn query is then the number of drawn queries whose place is
// not after its own, a running sum. Nothing but a new place (a binary search) takes more than
// constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::sampling {

// Better is: the higher score, then the lower query. 24 bytes a query.
class QueryRanking {
 public:
  // Scores of queries 0, 1, ...: `queries` of them may be ranked.
  explicit QueryRanking(size_t queries) : places_(queries), index_(queries) {}

  // Begins a pass over `queries`, none of which is drawn, with the score scores(q) for each.
  // `Scores`: float(uint32_t).
  template <typename Scores>
  void Begin(std::span<const uint32_t> queries, const Scores& scores) {
    keys_.clear();
    keys_.reserve(queries.size());
    for (const uint32_t query : queries) keys_.push_back(Key(scores(query), query));
    pool_.assign(queries.begin(), queries.end());
    Start();
  }

  size_t size() const { return pool_.size(); }
  size_t undrawn() const { return undrawn_; }
  // The best undrawn query, where there is one, and how many drawn ones are better.
  uint32_t best() const { return QueryOf(keys_[best_]); }
  size_t better() const { return better_; }

  // The undrawn queries that have not been skipped since Unskip, in an order that follows from the
  // draws and skips before.
  size_t open() const { return open_; }
  uint32_t open_query(size_t index) const { return pool_[index]; }
  void Skip(size_t index);
  void Unskip() { open_ = undrawn_; }

  // Draws an undrawn query; its score stays that of the epoch's beginning until Move.
  void Draw(uint32_t query);
  bool is_drawn(uint32_t query) const { return index_[query] >= undrawn_; }
  // Gives drawn queries other scores. All places are looked for side by side, so that the processor
  // waits for memory once for many of them.
  void Move(std::span<const uint32_t> queries, std::span<const float> scores);
  // Says how many of the epoch's first scores are better than the query's.
  uint32_t place(uint32_t query) const { return places_[query]; }
  // The score by which a query that has not moved is ranked.
  float score(uint32_t query) const { return ScoreOf(keys_[places_[query]]); }

  // The undrawn queries in the pool's order, then the drawn ones; RestorePool takes it back right
  // after Begin, whose scores are those by which the queries were ranked last.
  const std::vector<uint32_t>& pool() const { return pool_; }
  void RestorePool(std::span<const uint32_t> pool, size_t undrawn);

 private:
  // Ascending keys are descending scores, then ascending queries.
  static uint64_t Key(float score, uint32_t query);
  static uint32_t QueryOf(uint64_t key) { return static_cast<uint32_t>(key); }
  static float ScoreOf(uint64_t key);
  // Says how many of keys_ are below each of `keys`.
  std::vector<uint32_t> PlacesOf(std::span<const uint64_t> keys) const;
  void MoveTo(uint32_t query, uint32_t place);
  void Start();
  void SwapInPool(size_t a, size_t b);
  void Advance();  // to the next undrawn query

  std::vector<uint64_t> keys_;      // [size] sorted; of the epoch's first scores
  std::vector<uint32_t> places_;    // [queries] how many of keys_ are better than the query
  std::vector<uint32_t> drawn_at_;  // [size + 1] drawn queries by their place
  std::vector<uint32_t> pool_;      // [size] open, skipped, drawn
  std::vector<uint32_t> index_;     // [queries] into pool_
  size_t open_ = 0;
  size_t undrawn_ = 0;
  size_t best_ = 0;    // place of the best undrawn query; size() where there is none
  size_t better_ = 0;  // drawn queries at places up to best_
};

}  // namespace tandem::sampling
