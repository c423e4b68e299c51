// Says which texts a batch consists of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::sampling {

// Rows are queries, columns are documents: paired documents first (column i for row i), then the
// extra labelled documents of row 0, of row 1, ... A document may be a column twice only where the
// sampler allows copies.
struct Batch {
  uint64_t epoch = 0;                  // the epoch that its queries belong to, from 0
  std::vector<uint32_t> queries;       // [Q] queries of the Examples
  std::vector<uint32_t> documents;     // [D]
  std::vector<uint32_t> extra_starts;  // [Q + 1]: row i has columns [starts[i], starts[i + 1])
  std::vector<double> weights = {};    // [Q], 0 or more: of the queries' losses; empty: all are 1

  size_t rows() const { return queries.size(); }
  size_t columns() const { return documents.size(); }
};

}  // namespace tandem::sampling
