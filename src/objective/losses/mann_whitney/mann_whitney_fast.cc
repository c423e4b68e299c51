// The Mann-Whitney sums in O(P + N).
//
// The score line is cut into cells that are two temperatures wide. For each cell and each side we
// compute moments: sums over the cell's scores of Chebyshev polynomials of the score's position in
// the cell. For two cells at most 40 temperatures apart, a matrix of pair_expansion.h turns the
// moments of one side into a series for the other side, and the series is evaluated at each score
// of that cell. For cells farther apart softplus is the difference of the scores or 0, so that
// counts and sums of distances suffice. This costs a few dozen operations for each score, and for
// each cell with scores a product with at most 41 matrices.
#include <utility>

#include "base/process/threads.h"
#include "objective/losses/mann_whitney/mann_whitney_cells.h"

namespace tandem::objective {
namespace {

constexpr size_t kPositiveStripes = 16;
// Each stripe fills a table of moments of its own, so that threads need not share one. With more
// cells than this the tables would take more memory than the scores; then one thread fills one
// table.
constexpr size_t kCellsInParallel = 8192;

// Calls visit(stripe, body) for every stripe of a side, where `visit` calls body(score, weight).
template <typename Visit>
void CollectCells(const PairTask& task, size_t stripes, const Visit& visit, CellSide& side) {
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
                  CellSide& side) {
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

CellSide NegativeSide(const PairTask& task) {
  const auto visit = [&](size_t stripe, const auto& body) {
    NegativeTile tile;
    ForEachNegativeTile(task.batch, stripe, tile, [&](const NegativeTile& full) {
      for (size_t n = 0; n < full.size; ++n) body(full.scores[n], 1.0);
    });
  };
  CellSide side;
  CollectCells(task, kNegativeStripes, visit, side);
  AddUpMoments(task, kNegativeStripes, visit, 1, side);
  return side;
}

// The weighted sum of slopes over all positives, for a negative.
double SlopeAt(const CellSide& negatives, const ScoreGrid& grid, double score) {
  const int64_t cell = grid.CellOf(score);
  const size_t index = negatives.cells.IndexOf(cell);
  return negatives.far_slopes[index] +
         ValueOf(negatives.slopes[index], grid.PositionIn(cell, score));
}

void AddNegativeSlopes(const PairTask& task, const CellSide& negatives) {
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

CellSide PositiveSide(const PairTask& task) {
  const auto visit = [&](size_t stripe, const auto& body) {
    const size_t count = task.positives.size();
    const size_t end = count * (stripe + 1) / kPositiveStripes;
    for (size_t i = count * stripe / kPositiveStripes; i < end; ++i) {
      body(task.positives[i], task.Weight(i));
    }
  };
  CellSide side;
  CollectCells(task, kPositiveStripes, visit, side);
  AddUpMoments(task, kPositiveStripes, visit, -1, side);
  return side;
}

void ReadPositives(const PairTask& task, const CellSide& side, PairSums& sums) {
  const ScoreGrid grid(task.temperature);
  sums.positive_losses.resize(task.own);
  sums.positive_slopes.resize(side.slopes.empty() ? 0 : task.own);
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

PairSums SumPairsFast(const PairTask& task) {
  const bool slopes_wanted = task.cell_gradient != nullptr;
  CellSide positives = PositiveSide(task);
  CellSide negatives = NegativeSide(task);
  PairSums sums;
  sums.loss = SumOverNegatives(negatives, slopes_wanted, task.batch.threads, positives);
  ReadPositives(task, positives, sums);
  if (!slopes_wanted) return sums;
  SumOverPositives(positives, task.batch.threads, negatives);
  AddNegativeSlopes(task, negatives);
  return sums;
}

}  // namespace tandem::objective
