// Exact search over rows that a kind of index keeps in its own form.
//
// A kind says how it scores its rows, for one query or for a batch, and how far these scores can be
// from those of the float32 rows. The search is the same for all: threads take ranges of rows, what
// may be among the best is collected (candidates.h), and the float32 rows decide. So every exact
// kind finds the same rows with the same scores, whatever the threads and the queries beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/exact/possible_hits.h"
#include "index/kernels/code_products.h"
#include "index/vector_index.h"

namespace tandem::index {

// Queries, made ready for scoring. Several threads may use one at the same time.
class PreparedQuery {
 public:
  virtual ~PreparedQuery() = default;
  // Upper bounds of the scores of rows first to first + count - 1.
  virtual void Score(size_t first, size_t count, float* upper) const = 0;
  const ScoreBound& bound() const { return bound_; }

 protected:
  ScoreBound bound_;
};

class PreparedBatch {
 public:
  virtual ~PreparedBatch() = default;
  // Upper bounds [block.count, columns()] of the scores of the block's rows.
  virtual void Score(const RowBlock& block, float* upper) const = 0;
  size_t columns() const { return columns_; }  // queries and padding
  const ScoreBound& bound(size_t query) const { return bounds_[query]; }

 protected:
  size_t columns_ = 0;
  std::vector<ScoreBound> bounds_;  // [queries]
};

// The rows as a kind keeps them. Queries are finite, and so are their scores.
class StoredVectors {
 public:
  virtual ~StoredVectors() = default;
  virtual std::unique_ptr<PreparedQuery> Prepare(const float* query) const = 0;
  virtual std::unique_ptr<PreparedBatch> PrepareBatch(const float* queries, size_t count) const = 0;
  // Weights of ScoreBound [rows]; null: 1 for every row.
  virtual const float* weights() const { return nullptr; }
  // The greatest length of a float32 row.
  virtual double longest() const = 0;
  virtual size_t row_bytes() const = 0;
  virtual uint64_t resident_bytes() const = 0;
  // From this many queries on, a batch takes less time than the queries one by one.
  virtual size_t least_batch() const = 0;
};

// `rows` are those that `vectors` were made from; they outlive the index. Search throws
// NumericError for a query that is not finite, or whose scores with the longest row are not.
std::unique_ptr<VectorIndex> MakeExactIndex(const VectorRows& rows,
                                            std::unique_ptr<const StoredVectors> vectors);

}  // namespace tandem::index
