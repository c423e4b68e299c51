// The report of `tandem prune` about the pairs that it kept and removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/studies/without_pairs.h"
#include "report/tables/table.h"
#include "sampling/pruning/keep.h"

namespace tandem::app {

// The scores of all pairs of a data set, and which of the pairs are kept.
struct PrunedPairs {
  const data::Dataset& dataset;
  std::span<const data::DatasetPair> pairs;  // [P]
  std::span<const float> cosines;            // [P]
  std::span<const float> reciprocal_ranks;   // [P], or empty: pruned by the cosines
  const std::vector<bool>& kept;             // [P]
};

// Ranks pairs for pruning by `reciprocal_ranks`, or by the cosines if these are empty.
sampling::PairRanking RankingOf(std::span<const float> cosines,
                                std::span<const float> reciprocal_ranks);

// The pairs with from <= score < to; for ranks, those with from <= rank <= to.
struct HistogramBin {
  double from = 0;
  double to = 0;
  size_t pairs = 0;
  size_t kept = 0;
};

struct Histogram {
  std::string name;  // "cosine" or "rank"
  std::vector<HistogramBin> bins;
};

// Returns the histogram of the cosines, in steps of 0.05 from the lowest pair to the highest. If
// pairs were pruned by ranks, the histogram of ranks, in steps 1, 2, 5, 10, 20, ..., precedes it.
std::vector<Histogram> HistogramsOf(const PrunedPairs& pairs);

// The numbers of pairs that a person should review.
struct Review {
  std::vector<uint32_t> lowest;           // the lowest first
  std::vector<uint32_t> border_kept;      // the lowest that are kept, the lowest first
  std::vector<uint32_t> border_left_out;  // the highest that are left out, the highest first
};

// Chooses at most `count` pairs of each kind.
Review ReviewOf(const PrunedPairs& pairs, size_t count);

// Returns lines with score, from, to, pairs and kept, after a header.
std::string HistogramTsv(std::span<const Histogram> histograms);

// Returns counts, histograms with bars, and the reviewed pairs with their texts.
std::string PruneText(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review,
                      const report::TextStyle& style);
// Returns the same as one JSON object, with whole texts.
std::string PruneJson(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review);

}  // namespace tandem::app
