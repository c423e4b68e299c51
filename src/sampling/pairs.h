// The pairs that an order draws from: every query with each document that may be its paired one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

  // The pairs of the queries [begin, end), which are some, as pairs of their own: both queries and
  // pairs are numbered from 0. What one of the two leaves out the other does not have either, but
  // Keep of the whole must not come after this.
  Pairs Part(size_t begin, size_t end) const;

  const Examples& examples() const { return examples_; }
  bool graded_own() const { return graded_own_; }
  size_t size() const { return size_; }
  size_t queries() const { return queries_; }
  size_t first(size_t query) const { return firsts()[query] - first_pair_; }
  size_t count(size_t query) const { return firsts()[query + 1] - firsts()[query]; }
  // Documents are numbered as in the Examples.
  JudgedList pool(size_t query) const {
    return graded_own_ ? examples_.judged(first_query_ + query)
                       : examples_.positives(first_query_ + query);
  }
  // The pair of a query and a document of its pool.
  size_t Find(size_t query, uint32_t document) const;

  // Keeps the pairs p with `kept[p]`, out of those that are kept so far.
  void Keep(const std::vector<bool>& kept);
  bool kept(size_t pair) const {
    const std::vector<bool>& left_out = table_->left_out;
    return left_out.empty() || !left_out[first_pair_ + pair];
  }
  size_t kept_size() const { return size_ - (is_part_ ? left_out_size_ : table_->left_out_size); }
  size_t kept_count(size_t query) const;
  // Tells sets of kept pairs apart; 0 where all are kept. Looks at every pair.
  uint64_t kept_hash() const;

 private:
  // The pairs of all queries; parts share it.
  struct Table {
    std::vector<uint32_t> firsts = {0};  // [n + 1]
    std::vector<bool> left_out;          // [pairs], or empty: none is left out
    size_t left_out_size = 0;
  };

  const uint32_t* firsts() const { return table_->firsts.data() + first_query_; }

  const Examples& examples_;
  bool graded_own_;
  std::shared_ptr<Table> table_;
  bool is_part_ = false;
  size_t first_query_ = 0, queries_ = 0;
  size_t first_pair_ = 0, size_ = 0;
  size_t left_out_size_ = 0;  // of a part
};

}  // namespace tandem::sampling
