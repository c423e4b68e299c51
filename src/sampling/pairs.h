// The pairs that an order draws from: every query with each of its own documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampling/examples.h"

namespace tandem::sampling {

// Pair p of query q is document p - first(q) of its pool: its positives, or with `graded_own` all
// that is judged for it. Pairs are numbered query after query, in the order of Examples.
//
// An order may leave pairs out of the run (Keep); masks, which read the Examples, know them still.
class Pairs {
 public:
  // Throws std::invalid_argument where there is no query, one without a pair, or more than 2^32 - 1
  // pairs. `examples` must outlive the Pairs.
  Pairs(const Examples& examples, bool graded_own);

  const Examples& examples() const { return examples_; }
  bool graded_own() const { return graded_own_; }
  size_t size() const { return firsts_.back(); }
  size_t queries() const { return examples_.size(); }
  size_t first(size_t query) const { return firsts_[query]; }
  size_t count(size_t query) const { return firsts_[query + 1] - firsts_[query]; }
  JudgedList pool(size_t query) const {
    return graded_own_ ? examples_.judged(query) : examples_.positives(query);
  }
  // The pair of a query and a document of its pool.
  size_t Find(size_t query, uint32_t document) const;

  // Keeps the pairs p with `kept[p]`, out of those that are kept so far.
  void Keep(const std::vector<bool>& kept);
  bool all_kept() const { return left_out_.empty(); }
  bool kept(size_t pair) const { return left_out_.empty() || !left_out_[pair]; }
  size_t kept_size() const { return kept_size_; }
  size_t kept_count(size_t query) const;

 private:
  const Examples& examples_;
  bool graded_own_;
  std::vector<uint32_t> firsts_ = {0};  // [n + 1]
  std::vector<bool> left_out_;          // [pairs], or empty: none is left out
  size_t kept_size_ = 0;
};

}  // namespace tandem::sampling
