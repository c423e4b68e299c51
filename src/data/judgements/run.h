// A run: for each query the documents that a system retrieved, with scores.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/texts/arena.h"
#include "data/texts/slot_table.h"

namespace tandem::data {

struct ScoredDocument {
  std::string_view document;
  double score = 0;
};

struct QueryResults {
  std::string_view query;
  std::vector<ScoredDocument> results;  // in any order: ranks come from scores (eval/ranking.h)
};

// The results of queries come from a file (data/formats/trec_run.h) or from a search in memory:
//
//   Run run;
//   QueryResults& results = run.AddQuery(queries.id(q));
//   for (...) results.results.push_back({documents.id(d), score});   // views into `documents`
//
// Moving keeps the views valid; it cannot be copied.
class Run {
 public:
  // The queries in order of first mention.
  const std::vector<QueryResults>& queries() const { return queries_; }
  // Returns null where the query has no results.
  const QueryResults* Find(std::string_view query) const;

  // The results of `query`, added (with a copy of the id) where it is new. The reference is valid
  // until the next call. The caller sees to it that a query has each document once and that scores
  // are finite. Document ids are views: into what outlives the run, or made by `Keep`.
  QueryResults& AddQuery(std::string_view query);
  // Appends the results of `other` to those of the same queries, and its new queries after those
  // that are here. The caller sees to it that a query has each document once.
  void Append(Run other);
  // A copy of `bytes` that lives as long as the run.
  std::string_view Keep(std::string_view bytes) { return arena_.Copy(bytes); }

 private:
  Arena arena_;
  std::vector<QueryResults> queries_;
  SlotTable index_;
  uint32_t last_ = 0;  // runs are grouped by query nearly always
};

}  // namespace tandem::data
