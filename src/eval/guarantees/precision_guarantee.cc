#include "eval/guarantees/precision_guarantee.h"

#include <cmath>

#include "eval/guarantees/hoeffding_bentkus.h"

namespace tandem::eval {

std::vector<double> PrecisionGrid(std::string_view similarity) {
  constexpr int kCosineSteps = 256, kOctaveSteps = 32, kHighest = 20, kLowest = -10;
  std::vector<double> grid;
  if (similarity == "cosine") {
    for (int i = kCosineSteps; i >= -kCosineSteps; --i) {
      grid.push_back(static_cast<double>(i) / kCosineSteps);
    }
    return grid;
  }
  // Linear within each power of two, so that every threshold is exact in single precision.
  for (int power = kHighest - 1; power >= kLowest; --power) {
    for (int i = kOctaveSteps - 1; i >= 0; --i) {
      grid.push_back(std::ldexp(1 + static_cast<double>(i) / kOctaveSteps, power));
    }
  }
  const size_t positive = grid.size();
  grid.push_back(0);
  for (size_t i = positive; i-- > 0;) grid.push_back(-grid[i]);
  return grid;
}

std::optional<size_t> FixedSequence(std::span<const double> totals, size_t n,
                                    const PrecisionRisk& wanted) {
  std::optional<size_t> last;
  for (size_t g = 0; g < totals.size(); ++g) {
    // Thresholds that show the same have the same p.
    const bool same = g > 0 && totals[g] == totals[g - 1];
    if (!same && HoeffdingBentkusP(totals[g], n, wanted.risk) > 1 - wanted.confidence) break;
    last = g;
  }
  return last;
}

PrecisionThreshold ChoosePrecisionThreshold(std::span<const GuaranteeRow> rows,
                                            const PrecisionRisk& wanted,
                                            std::span<const double> grid) {
  std::vector<double> totals(grid.size());
  for (const GuaranteeRow& row : rows) {
    const std::vector<double> losses = WrongShares(row, grid, wanted.judged_only);
    for (size_t g = 0; g < grid.size(); ++g) totals[g] += losses[g];
  }
  PrecisionThreshold chosen{.threshold = {}, .queries = rows.size()};
  const std::optional<size_t> last = FixedSequence(totals, rows.size(), wanted);
  if (!last) return chosen;
  chosen.threshold = grid[*last];
  size_t shown = 0;
  for (const GuaranteeRow& row : rows) shown += ShowsAny(row, grid[*last]) ? 1 : 0;
  const auto queries = static_cast<double>(rows.size());
  chosen.mean_loss = totals[*last] / queries;
  chosen.nothing = 1 - static_cast<double>(shown) / queries;
  if (shown > 0) chosen.loss_of_shown = totals[*last] / static_cast<double>(shown);
  return chosen;
}

}  // namespace tandem::eval
