// All pairs of a positive and a negative of a batch, and the two ways to sum over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "objective/batch.h"

namespace tandem::objective {

struct PairTask {
  const Batch& batch;                 // negatives: its allowed cells, then its banked ones
  std::span<const double> positives;  // paired documents' scores, then banked ones
  double temperature = 1;
  std::span<const double> weights;  // of the first positives; those after them weigh 1
  size_t own = 0;                   // sums for each positive are wanted of the first so many
  double* cell_gradient = nullptr;  // [Q, D]; null: only losses are computed
  // Each negative's weighted sum of slopes times this is added to cell_gradient.
  double slope_factor = 0;

  double Weight(size_t positive) const { return positive < weights.size() ? weights[positive] : 1; }
};

struct PairSums {
  double loss = 0;  // over all pairs, of weight * softplus((negative - positive) / temperature)
  // [PairTask::own] The sums over all negatives of softplus and of its slope, for each positive,
  // whatever it weighs. There are no slopes without gradient.
  std::vector<double> positive_losses;
  std::vector<double> positive_slopes;
};

// Computes every pair by itself, exact up to rounding. Takes O(P N) time and O(P) memory.
PairSums SumPairsTiled(const PairTask& task);

// Computes the sums by expansions in O(P + N) time, as mann_whitney_fast.cc explains. The loss and
// every sum differ from the exact ones by at most 2e-12 of their value plus e^-40 for each pair (by
// its weight), for any scores: the expansions are off by up to 9e-13, the rest is rounding. Throws
// NumericError for a score that is more than 2^50 temperatures from 0.
PairSums SumPairsFast(const PairTask& task);

// The negatives of one tile: their scores, and the cells of the batch that the scores are from.
struct NegativeTile {
  static constexpr size_t kCapacity = 1024;  // scores and sums of slopes fill half an L1 cache
  std::array<double, kCapacity> scores;
  std::array<int64_t, kCapacity> cells;  // in [Q, D]; not set for banked scores
  size_t size = 0;
  bool banked = false;
};

// The negatives are cut into this many stripes, whatever the number of threads, so that sums do not
// depend on it. The first half of the stripes holds cells of the batch, the second half banked
// scores.
inline constexpr size_t kNegativeStripes = 32;

// Calls `body(tile)` for the negatives of one stripe, tile by tile. `tile` is working space.
template <typename Body>
void ForEachNegativeTile(const Batch& batch, size_t stripe, NegativeTile& tile, const Body& body) {
  constexpr size_t kHalf = kNegativeStripes / 2;
  tile.banked = stripe >= kHalf;
  tile.size = 0;
  const size_t part = stripe % kHalf;
  const size_t count = tile.banked ? batch.bank_negatives.size()
                                   : static_cast<size_t>(batch.queries * batch.documents);
  const size_t end = count * (part + 1) / kHalf;
  for (size_t i = count * part / kHalf; i < end; ++i) {
    if (tile.banked) {
      tile.scores[tile.size++] = batch.bank_negatives[i];
    } else if (batch.negative[i]) {
      tile.scores[tile.size] = batch.query_document[i];
      tile.cells[tile.size++] = static_cast<int64_t>(i);
    }
    if (tile.size < NegativeTile::kCapacity) continue;
    body(tile);
    tile.size = 0;
  }
  if (tile.size > 0) body(tile);
}

}  // namespace tandem::objective
