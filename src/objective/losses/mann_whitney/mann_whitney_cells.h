// The part of the fast Mann-Whitney sums that knows cells of scores alone, whoever has collected
// the scores: mann_whitney_fast.cc on the host, device_mann_whitney.cc on a device.
#pragma once

#include <vector>

#include "objective/losses/mann_whitney/mann_whitney_pairs.h"
#include "objective/losses/mann_whitney/pair_expansion.h"
#include "objective/losses/mann_whitney/score_cells.h"

namespace tandem::objective {

// The scores of one side, positives or negatives, their cells, and sums for each cell.
struct CellSide {
  CellSet cells;
  // The moments of each cell, weighted; moments[0] is the weight of its scores. Positions of
  // positives have their sign turned (pair_expansion.h).
  std::vector<Series> moments;
  // Sums over the other side's near cells, as series of position. Losses are there for positives
  // only.
  std::vector<Series> losses, slopes;
  // Sums over its far cells: those of slopes are the same for all scores of a cell, those of losses
  // are for its middle.
  std::vector<double> far_losses, far_slopes;
};

// Throws NumericError for a score that is too far from 0 for cells (SumPairsFast).
void CheckScore(double score, double temperature);

// Computes the positives' sums over all negatives, of slopes where wanted, and returns the loss.
double SumOverNegatives(const CellSide& negatives, bool slopes_wanted, int threads,
                        CellSide& positives);
// Computes the negatives' sums of slopes over all positives.
void SumOverPositives(const CellSide& positives, int threads, CellSide& negatives);

// The cells and moments of task.positives.
CellSide PositiveSide(const PairTask& task);
// Reads the sums of task.own positives off their cells; slopes where they were wanted.
void ReadPositives(const PairTask& task, const CellSide& side, PairSums& sums);

}  // namespace tandem::objective
