// The Mann-Whitney sums, exact. Nothing of size P N is ever held: negatives are gathered in tiles,
// and every positive passes over a tile while it is in the cache.
#include "base/process/threads.h"
#include "objective/losses/mann_whitney/mann_whitney_pairs.h"
#include "objective/softplus.h"

namespace tandem::objective {
namespace {

using Slopes = std::array<double, NegativeTile::kCapacity>;

PairSums Zero(const PairTask& task) {
  const size_t slopes = task.cell_gradient == nullptr ? 0 : task.own;
  return {.positive_losses = std::vector<double>(task.own),
          .positive_slopes = std::vector<double>(slopes)};
}

// Adds a tile's pairs to the sums, and each negative's weighted slopes to `slopes`.
void AddTile(const PairTask& task, const NegativeTile& tile, PairSums& sums, Slopes& slopes) {
  const double inverse_temperature = 1 / task.temperature;
  for (size_t i = 0; i < task.positives.size(); ++i) {
    const double weight = task.Weight(i);
    double loss = 0;
    double slope = 0;
    for (size_t n = 0; n < tile.size; ++n) {
      const Softplus pair = SoftplusOf((tile.scores[n] - task.positives[i]) * inverse_temperature);
      loss += pair.value;
      slope += pair.slope;
      slopes[n] += weight * pair.slope;
    }
    sums.loss += weight * loss;
    if (i < sums.positive_losses.size()) sums.positive_losses[i] += loss;
    if (i < sums.positive_slopes.size()) sums.positive_slopes[i] += slope;
  }
}

void AddAll(const std::vector<double>& from, std::vector<double>& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

PairSums SumStripe(const PairTask& task, size_t stripe, NegativeTile& tile) {
  PairSums sums = Zero(task);
  Slopes slopes;
  ForEachNegativeTile(task.batch, stripe, tile, [&](const NegativeTile& full) {
    std::fill_n(slopes.begin(), full.size, 0.0);
    AddTile(task, full, sums, slopes);
    if (task.cell_gradient == nullptr || full.banked) return;
    for (size_t n = 0; n < full.size; ++n) {
      task.cell_gradient[full.cells[n]] += task.slope_factor * slopes[n];
    }
  });
  return sums;
}

}  // namespace

PairSums SumPairsTiled(const PairTask& task) {
  std::vector<PairSums> stripes(kNegativeStripes);
  ParallelFor(kNegativeStripes, 1, task.batch.threads, [&](size_t begin, size_t end) {
    NegativeTile tile;
    for (size_t s = begin; s < end; ++s) stripes[s] = SumStripe(task, s, tile);
  });
  PairSums total = Zero(task);
  for (const PairSums& stripe : stripes) {
    total.loss += stripe.loss;
    AddAll(stripe.positive_losses, total.positive_losses);
    AddAll(stripe.positive_slopes, total.positive_slopes);
  }
  return total;
}

}  // namespace tandem::objective
