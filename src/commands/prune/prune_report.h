// What `tandem prune` says about the pairs that it kept and left out.
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

// The scores of all pairs of a data set and which of them are kept.
struct PrunedPairs {
  const data::Dataset& dataset;
  std::span<const data::DatasetPair> pairs;  // [P]
  std::span<const float> cosines;            // [P]
  std::span<const float> reciprocal_ranks;   // [P], or empty: pruned by the cosines
  const std::vector<bool>& kept;             // [P]
};

// By what pairs are pruned: `reciprocal_ranks`, or the cosines where these are empty.
sampling::PairRanking RankingOf(std::span<const float> cosines,
                                std::span<const float> reciprocal_ranks);

// Pairs with from <= score < to; of ranks, with from <= rank <= to.
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

// Of the cosines, in steps of 0.05 from the lowest pair to the highest; before it, where pairs were
// pruned by them, of the ranks, in steps 1, 2, 5, 10, 20, ...
std::vector<Histogram> HistogramsOf(const PrunedPairs& pairs);

// Pairs that a person looks at, as numbers of pairs.
struct Review {
  std::vector<uint32_t> lowest;           // the lowest first
  std::vector<uint32_t> border_kept;      // the lowest that are kept, the lowest first
  std::vector<uint32_t> border_left_out;  // the highest that are left out, the highest first
};

// At most `count` of each.
Review ReviewOf(const PrunedPairs& pairs, size_t count);

// Lines score, from, to, pairs, kept, with a header.
std::string HistogramTsv(std::span<const Histogram> histograms);

// Counts, histograms with bars and the pairs of the review with their texts.
std::string PruneText(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review,
                      const report::TextStyle& style);
// The same as one JSON object; texts are whole.
std::string PruneJson(const PrunedPairs& pairs, const data::PairLoss& loss, size_t review);

}  // namespace tandem::app
