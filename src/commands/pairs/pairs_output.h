// What `tandem pairs` prints: counts of each source, and examples.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "documents/pairing/pair_collector.h"
#include "report/tables/table.h"

namespace tandem::app {

// The number of pairs that a dry run shows.
inline constexpr size_t kShownExamples = 10;

// Draws up to `count` pairs by the seed, of all sources in turn; numbers of set.pairs, ascending.
std::vector<size_t> DrawExamples(const documents::PairSet& set, size_t count, uint64_t seed);

// The counts as a table, then the examples.
std::string PairsText(const documents::PairSet& set, const std::vector<size_t>& examples,
                      const report::TextStyle& style);
// {"documents", "pairs", "queries", "texts", "sources": [{"name", "chosen", "found", "kept",
// "too_short", ...}], "examples": [{"source", "query", "document", "text"}]}
std::string PairsJson(const documents::PairSet& set, const std::vector<size_t>& examples);

// Throws UsageError where there is no pair; says which sources found some.
void CheckHasPairs(const documents::PairSet& set);

}  // namespace tandem::app
