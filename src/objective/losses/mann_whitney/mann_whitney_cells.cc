#include "objective/losses/mann_whitney/mann_whitney_cells.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/process/threads.h"

namespace tandem::objective {
namespace {

// Above this cell numbers would lose their last digit.
constexpr double kLargestScore = 0x1p50;  // temperatures

// The loss of the pairs whose negative is far above the positive. Goes through the cells of the
// positives from the highest down, so that it only adds distances: subtracting them would lose
// digits.
double AddFarAbove(const CellSide& negatives, CellSide& positives) {
  positives.far_losses.assign(positives.cells.size(), 0);
  positives.far_slopes.assign(positives.cells.size(), 0);
  double loss = 0, count = 0, distance = 0, positions = 0;  // of the negatives far above
  size_t next = negatives.cells.size();                     // above it all are taken
  for (size_t a = positives.cells.size(); a-- > 0;) {
    const int64_t cell = positives.cells.cell(a);
    if (a + 1 < positives.cells.size()) {
      distance += 2 * count * static_cast<double>(positives.cells.cell(a + 1) - cell);
    }
    for (; next > 0 && negatives.cells.cell(next - 1) > cell + kReach; --next) {
      const Series& moments = negatives.moments[next - 1];
      count += moments[0];
      distance += 2 * moments[0] * static_cast<double>(negatives.cells.cell(next - 1) - cell);
      positions += moments[1];
    }
    const Series& own = positives.moments[a];
    loss += own[0] * (distance + positions) + count * own[1];
    positives.far_losses[a] = distance + positions;
    positives.far_slopes[a] = count;
  }
  return loss;
}

// Sums up for each cell of negatives the weights of the positives that are far below it.
void WeighFarBelow(const CellSide& positives, CellSide& negatives) {
  negatives.far_slopes.assign(negatives.cells.size(), 0);
  double weight = 0;
  size_t next = 0;
  for (size_t b = 0; b < negatives.cells.size(); ++b) {
    const int64_t reach = negatives.cells.cell(b) - kReach;
    for (; next < positives.cells.size() && positives.cells.cell(next) < reach; ++next) {
      weight += positives.moments[next][0];
    }
    negatives.far_slopes[b] = weight;
  }
}

// Calls body(other_cell, index) for the cells of `other` that are within reach of `cell`. `index`
// selects the expansion matrix for the distance of the two, which is counted from `cell` to the
// other cell where `upwards`, else from the other cell to `cell`.
template <typename Body>
void ForEachNear(const CellSet& other, int64_t cell, bool upwards, const Body& body) {
  size_t low = 0;
  for (size_t high = other.size(); low < high;) {
    const size_t middle = (low + high) / 2;
    if (other.cell(middle) < cell - kReach) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < other.size() && other.cell(low) <= cell + kReach; ++low) {
    const int64_t distance = upwards ? other.cell(low) - cell : cell - other.cell(low);
    body(low, static_cast<size_t>(distance + kReach));
  }
}

// The loss of the near pairs. Keeps the positives' losses, and their slopes where a gradient is
// asked for.
double AddNear(const CellSide& negatives, bool wanted, int threads, CellSide& positives) {
  const PairExpansions& expansions = GetPairExpansions();
  if (wanted) positives.slopes.resize(positives.cells.size());
  positives.losses.resize(positives.cells.size());
  std::vector<double> losses(positives.cells.size());
  ParallelFor(losses.size(), 8, threads, [&](size_t begin, size_t end) {
    for (size_t a = begin; a < end; ++a) {
      Series& loss = positives.losses[a];
      ForEachNear(negatives.cells, positives.cells.cell(a), true, [&](size_t b, size_t index) {
        AddProduct(expansions.softplus[index], negatives.moments[b], loss);
        if (wanted) AddProduct(expansions.slope[index], negatives.moments[b], positives.slopes[a]);
      });
      losses[a] = std::inner_product(loss.begin(), loss.end(), positives.moments[a].begin(), 0.0);
    }
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void AddNearSlopes(const CellSide& positives, int threads, CellSide& negatives) {
  const PairExpansions& expansions = GetPairExpansions();
  negatives.slopes.resize(negatives.cells.size());
  ParallelFor(negatives.cells.size(), 8, threads, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      ForEachNear(positives.cells, negatives.cells.cell(b), false, [&](size_t a, size_t index) {
        AddProduct(expansions.slope[index], positives.moments[a], negatives.slopes[b]);
      });
    }
  });
}

}  // namespace

void CheckScore(double score, double temperature) {
  if (std::fabs(score) <= kLargestScore * temperature) return;
  throw NumericError(
      fmt::format("the score {} is more than 2^50 times the temperature {}: too large for the fast "
                  "form; form = \"tiled\" takes it",
                  score, temperature));
}

double SumOverNegatives(const CellSide& negatives, bool slopes_wanted, int threads,
                        CellSide& positives) {
  return AddFarAbove(negatives, positives) + AddNear(negatives, slopes_wanted, threads, positives);
}

void SumOverPositives(const CellSide& positives, int threads, CellSide& negatives) {
  WeighFarBelow(positives, negatives);
  AddNearSlopes(positives, threads, negatives);
}

}  // namespace tandem::objective
