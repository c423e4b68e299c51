// Says how well the documents of (query, document) pairs fit their queries, by a model's
// embeddings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tensor/core/tensor.h"

namespace tandem::search {

// Lists of rows, one for each query: query q has rows[starts[q]] to rows[starts[q + 1] - 1].
struct RowLists {
  std::span<const size_t> starts;  // [Q + 1]
  std::span<const uint32_t> rows;

  size_t size() const { return starts.size() - 1; }
  std::span<const uint32_t> operator[](size_t q) const {
    return rows.subspan(starts[q], starts[q + 1] - starts[q]);
  }
};

// P pairs of Q queries. Equal texts have one row.
struct EmbeddedPairs {
  tensor::Tensor queries;               // float32 [distinct queries, E], of any length
  tensor::Tensor documents;             // float32 [distinct documents, E], of any length
  std::span<const uint32_t> query_row;  // [Q] into `queries`
  RowLists pairs;                       // of `documents`; all lists together are the P pairs
};

// The cosine of each pair's query and document, [P]; 0 where an embedding is 0. Summed in double
// precision in a fixed order. Throws NumericError for an embedding that is not finite.
std::vector<float> PairCosines(const EmbeddedPairs& pairs);
// The dot product of each pair's embeddings, likewise. Throws for one that no float32 holds, too.
std::vector<float> PairDots(const EmbeddedPairs& pairs);

// METHODS §3's default: the paper's number of random positives.
inline constexpr size_t kConsistencyCandidates = 10'000;

struct ConsistencyOptions {
  // Documents that each pair's document is ranked among; fewer where there are fewer.
  size_t candidates = kConsistencyCandidates;
  uint64_t seed = 1;  // of the choice: stream (seed, "consistency")
  // Called after every 8,192 queries, by the thread of the call. It may throw, to stop.
  std::function<void()> between_rounds;
};

// Gives each pair the reciprocal rank of its document among other queries' random positives, [P]:
// 1 / (1 + how many of them have a larger cosine with the query). `positives` are the rows that are
// a positive of any query, each once; all queries share one random order of them, and each query
// takes the first `candidates` that are neither documents of its pairs nor relevant for it:
// `relevant[r]`, [distinct queries], has the rows that are relevant for the query of row r, so that
// queries with the same text know the same. Where nothing is left to compare with, the rank is 1.
//
// The products are floats; where these are too close to decide, cosines in double precision do, so
// that equal embeddings are equal. Source: OPERA's consistency-based score (CBS); one order for all
// queries is ours and makes the work one product of matrices.
std::vector<float> ReciprocalRanks(const EmbeddedPairs& pairs, const RowLists& relevant,
                                   std::vector<uint32_t> positives,
                                   const ConsistencyOptions& options = {});

}  // namespace tandem::search
