// The Mann-Whitney sums in O(P + N).
//
// The score line is cut into cells that are two temperatures wide. For each cell and each side we
// compute moments: sums over the cell's scores of Chebyshev polynomials of the score's position in
// the cell. For two cells at most 40 temperatures apart, a matrix of pair_expansion.h turns the
// moments of one side into a series for the other side, and the series is evaluated at each score
// of that cell. For cells farther apart softplus is the difference of the scores or 0, so that
// counts and sums of distances suffice. This costs a few dozen operations for each score, and for
// each cell with scores a product with at most 41 matrices.
#include <fmt/format.h>

#include <numeric>

#include "base/error.h"
#include "base/threads.h"
#include "objective/mann_whitney_pairs.h"
#include "objective/pair_expansion.h"
#include "objective/score_cells.h"

namespace tandem::objective {
namespace {

// Above this cell numbers would lose their last digit.
constexpr double kLargestScore = 0x1p50;  // temperatures

constexpr size_t kPositiveStripes = 16;
// Each stripe fills a table of moments of its own, so that threads need not share one. With more
// cells than this the tables would take more memory than the scores; then one thread fills one
// table.
constexpr size_t kCellsInParallel = 8192;

// The scores of one side, positives or negatives, their cells, and sums for each cell.
struct Side {
  CellSet cells;
  std::vector<Series> moments;  // of each cell, weighted; moments[0] is the weight of its scores
  // Sums over the other side's near cells, as series of position. Losses are there for positives
  // only.
  std::vector<Series> losses, slopes;
  // Sums over its far cells: those of slopes are the same for all scores of a cell, those of losses
  // are for its middle.
  std::vector<double> far_losses, far_slopes;
};

void CheckScore(double score, double temperature) {
  if (std::fabs(score) <= kLargestScore * temperature) return;
  throw NumericError(
      fmt::format("the score {} is more than 2^50 times the temperature {}: too large for the fast "
                  "form; form = \"tiled\" takes it",
                  score, temperature));
}

// Calls visit(stripe, body) for every stripe of a side, where `visit` calls body(score, weight).
template <typename Visit>
void CollectCells(const PairTask& task, size_t stripes, const Visit& visit, Side& side) {
  const ScoreGrid grid(task.temperature);
  std::vector<CellSet> sets(stripes);
  ParallelFor(stripes, 1, task.batch.threads, [&](size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      visit(s, [&](double score, double) {
        CheckScore(score, task.temperature);
        sets[s].Add(grid.CellOf(score));
      });
    }
  });
  for (const CellSet& set : sets) side.cells.AddAll(set);
  side.cells.Sort();
}

// `sign` turns the positions of positives (pair_expansion.h).
template <typename Visit>
void AddUpMoments(const PairTask& task, size_t stripes, const Visit& visit, double sign,
                  Side& side) {
  const ScoreGrid grid(task.temperature);
  const bool parallel = side.cells.size() <= kCellsInParallel;
  std::vector<std::vector<Series>> tables(parallel ? stripes : 1);
  ParallelFor(stripes, parallel ? 1 : stripes, task.batch.threads, [&](size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      std::vector<Series>& table = tables[parallel ? s : 0];
      table.resize(side.cells.size());
      visit(s, [&](double score, double weight) {
        const int64_t cell = grid.CellOf(score);
        AddMoments(sign * grid.PositionIn(cell, score), weight, table[side.cells.IndexOf(cell)]);
      });
    }
  });
  side.moments = std::move(tables.front());
  for (size_t t = 1; t < tables.size(); ++t) {
    for (size_t c = 0; c < side.moments.size(); ++c) {
      for (size_t k = 0; k < kTerms; ++k) side.moments[c][k] += tables[t][c][k];
    }
  }
}

Side PositiveSide(const PairTask& task) {
  const auto visit = [&](size_t stripe, const auto& body) {
    const size_t count = task.positives.size();
    const size_t end = count * (stripe + 1) / kPositiveStripes;
    for (size_t i = count * stripe / kPositiveStripes; i < end; ++i) {
      body(task.positives[i], task.Weight(i));
    }
  };
  Side side;
  CollectCells(task, kPositiveStripes, visit, side);
  AddUpMoments(task, kPositiveStripes, visit, -1, side);
  return side;
}

Side NegativeSide(const PairTask& task) {
  const auto visit = [&](size_t stripe, const auto& body) {
    NegativeTile tile;
    ForEachNegativeTile(task.batch, stripe, tile, [&](const NegativeTile& full) {
      for (size_t n = 0; n < full.size; ++n) body(full.scores[n], 1.0);
    });
  };
  Side side;
  CollectCells(task, kNegativeStripes, visit, side);
  AddUpMoments(task, kNegativeStripes, visit, 1, side);
  return side;
}

// The loss of the pairs whose negative is far above the positive. Goes through the cells of the
// positives from the highest down, so that it only adds distances: subtracting them would lose
// digits.
double AddFarAbove(const Side& negatives, Side& positives) {
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
void WeighFarBelow(const Side& positives, Side& negatives) {
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
double AddNear(const PairTask& task, const Side& negatives, Side& positives) {
  const PairExpansions& expansions = GetPairExpansions();
  const bool wanted = task.cell_gradient != nullptr;
  if (wanted) positives.slopes.resize(positives.cells.size());
  positives.losses.resize(positives.cells.size());
  std::vector<double> losses(positives.cells.size());
  ParallelFor(losses.size(), 8, task.batch.threads, [&](size_t begin, size_t end) {
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

void AddNearSlopes(const PairTask& task, const Side& positives, Side& negatives) {
  const PairExpansions& expansions = GetPairExpansions();
  negatives.slopes.resize(negatives.cells.size());
  ParallelFor(negatives.cells.size(), 8, task.batch.threads, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      ForEachNear(positives.cells, negatives.cells.cell(b), false, [&](size_t a, size_t index) {
        AddProduct(expansions.slope[index], positives.moments[a], negatives.slopes[b]);
      });
    }
  });
}

// The sums over all negatives, for each positive that they are wanted of.
void ReadPositives(const PairTask& task, const Side& side, PairSums& sums) {
  const ScoreGrid grid(task.temperature);
  sums.positive_losses.resize(task.own);
  sums.positive_slopes.resize(task.cell_gradient == nullptr ? 0 : task.own);
  ParallelFor(task.own, 4096, task.batch.threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int64_t cell = grid.CellOf(task.positives[i]);
      const size_t index = side.cells.IndexOf(cell);
      const double position = -grid.PositionIn(cell, task.positives[i]);
      sums.positive_losses[i] = side.far_losses[index] + side.far_slopes[index] * position +
                                ValueOf(side.losses[index], position);
      if (sums.positive_slopes.empty()) continue;
      sums.positive_slopes[i] = side.far_slopes[index] + ValueOf(side.slopes[index], position);
    }
  });
}

// The weighted sum of slopes over all positives, for a negative.
double SlopeAt(const Side& negatives, const ScoreGrid& grid, double score) {
  const int64_t cell = grid.CellOf(score);
  const size_t index = negatives.cells.IndexOf(cell);
  return negatives.far_slopes[index] +
         ValueOf(negatives.slopes[index], grid.PositionIn(cell, score));
}

void AddNegativeSlopes(const PairTask& task, const Side& negatives) {
  const ScoreGrid grid(task.temperature);
  ParallelFor(kNegativeStripes, 1, task.batch.threads, [&](size_t begin, size_t end) {
    NegativeTile tile;
    for (size_t s = begin; s < end; ++s) {
      ForEachNegativeTile(task.batch, s, tile, [&](const NegativeTile& full) {
        for (size_t n = 0; n < full.size && !full.banked; ++n) {
          task.cell_gradient[full.cells[n]] +=
              task.slope_factor * SlopeAt(negatives, grid, full.scores[n]);
        }
      });
    }
  });
}

}  // namespace

PairSums SumPairsFast(const PairTask& task) {
  Side positives = PositiveSide(task);
  Side negatives = NegativeSide(task);
  PairSums sums;
  sums.loss = AddFarAbove(negatives, positives) + AddNear(task, negatives, positives);
  ReadPositives(task, positives, sums);
  if (task.cell_gradient == nullptr) return sums;
  WeighFarBelow(positives, negatives);
  AddNearSlopes(task, positives, negatives);
  AddNegativeSlopes(task, negatives);
  return sums;
}

}  // namespace tandem::objective
