// Lists of documents that a first system found for queries, for a model to rank again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/dataset.h"
#include "data/warnings.h"

namespace tandem::data {

struct Candidates {
  // [judged queries of the data set]: numbers of its documents, in the order of the run's lines;
  // empty where the run has none.
  std::vector<std::vector<uint32_t>> documents;
  size_t queries_without = 0;   // judged queries without any
  size_t unjudged_queries = 0;  // of the run: ignored
};

// Reads a TREC run, plain or gzip, whose scores and ranks are ignored. Throws what ReadTrecRun
// throws, and DataError for a document that the corpus lacks (naming line, query and document) and
// for a run without any judged query. What is counted goes to `warnings`, or to stderr where null.
Candidates ReadCandidates(const std::filesystem::path& path, const Dataset& dataset,
                          Warnings* warnings = nullptr);

}  // namespace tandem::data
