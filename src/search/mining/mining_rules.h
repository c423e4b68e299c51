// Decides which documents of a ranking become negatives of a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "search/retrieval/hits.h"

namespace tandem::search {

// The documents of a ranking are numbered from 0, after those that must not be mined were taken
// out: known positives, documents judged relevant to some degree, and copies of both. Those before
// ranks.end are the candidates. The margins take candidates out; of what is left, best first, the
// first ranks.begin are skipped, and the negatives come from the rest.
//
// Source: mine_hard_negatives of sentence-transformers 6.2 (`range_min`, `range_max`,
// `absolute_margin`, `relative_margin`, `num_negatives`, `sampling_strategy`). Differs: a query's
// candidates end at ranks.end whatever the number of other queries' positives is; there, with
// margins, a few ranks after it may follow.
struct RankRange {
  size_t begin = 10;
  size_t end = 200;  // the first rank that is not in it
};

// "10:200": two ranks with a colon between them. Gives nothing for all other text.
std::optional<RankRange> ParseRankRange(std::string_view text);

struct MiningRules {
  RankRange ranks;
  size_t negatives = 5;  // of each query, at most
  // Takes out documents with score + margin > the lowest score of the query's positives.
  std::optional<double> absolute_margin;  // score units, >= 0
  // Takes out documents with score > lowest - margin * |lowest|.
  std::optional<double> relative_margin;  // in [0, 1]
  // Draws the negatives from the range with equal chances, not the best of it.
  bool random = false;
  uint64_t seed = 0;   // of the draw
  uint64_t round = 0;  // of the draw: another one for each time that a run mines

  bool HasMargin() const { return absolute_margin || relative_margin; }
  // Hits that are not taken out, from rank 0 on, that Choose may look at.
  size_t Depth() const { return random || HasMargin() ? ranks.end : ranks.begin + negatives; }
};

// Throws UsageError, naming the flags of `tandem mine`, for an empty range, for more negatives than
// the range has ranks or none, and for margins that are not finite or outside their bounds.
void CheckRules(const MiningRules& rules);

// Says whether a document of this score keeps the margins. `lowest_positive` is the lowest score of
// the query's positives; -infinity where one has no score: then no document keeps a margin.
bool KeepsMargins(const MiningRules& rules, float score, float lowest_positive);

// The highest score that keeps the margins, but for rounding; infinity without margins.
float MarginCeiling(const MiningRules& rules, float lowest_positive);

// Chooses the negatives from `candidates` (best first, those that the margins take out left out),
// best first. A draw depends on seed, round, query and each document alone, not on the candidates'
// order: whoever swaps two of them chooses the same.
std::vector<Hit> Choose(const MiningRules& rules, uint32_t query, std::span<const Hit> candidates);

}  // namespace tandem::search
