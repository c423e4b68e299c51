// A threshold that promises precision: at most `risk` of what a query is shown is wrong, on average
// over queries, with a confidence.
//
//   const std::vector<double> grid = PrecisionGrid("cosine");
//   const PrecisionThreshold chosen = ChoosePrecisionThreshold(rows, {0.1, 0.95}, grid);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "eval/guarantees/guarantee_rows.h"

namespace tandem::eval {

// The thresholds that are tested, [G], descending and chosen without looking at any query: of
// cosines the multiples of 1/256 from 1 to -1, of dot products 32 for each power of two, of both
// signs, from 2^20 to 2^-10. All are exact in single precision.
std::vector<double> PrecisionGrid(std::string_view similarity);

struct PrecisionRisk {
  double risk = 0;           // the highest mean loss
  double confidence = 0;     // in (0, 1)
  bool judged_only = false;  // WrongShares
};

// Fixed-sequence testing: the index of the last threshold, going down the grid, before the first at
// which "the mean loss is above the risk" is not rejected (HoeffdingBentkusP <= 1 - confidence).
// `totals` [G] are sums of n losses each. None where not even the first is rejected. Because it
// stops at its first failure, no correction for the number of thresholds is needed: the
// probability that any threshold that it passed is bad is at most 1 - confidence.
std::optional<size_t> FixedSequence(std::span<const double> totals, size_t n,
                                    const PrecisionRisk& wanted);

struct PrecisionThreshold {
  std::optional<double> threshold;  // of the grid; none: nothing can be promised
  size_t queries = 0;               // n: all rows
  // At the threshold:
  double mean_loss = 0;
  double nothing = 0;  // share of the queries that get nothing, each with a loss of 0
  // The mean loss of the queries that get something, about which nothing is promised; 0: none does.
  double loss_of_shown = 0;
};

// Learn then test with the loss WrongShares. If later queries are drawn as the n calibration
// queries were, independently, the mean loss at the threshold is at most `risk`, with probability
// `confidence` or more over the draw of the calibration queries.
// Source: Angelopoulos, Bates, Candès, Jordan, Lei 2021, "Learn then test: calibrating predictive
// algorithms to achieve risk control", sections 3.1 and 4. Of several promises each holds by
// itself. A query without positives counts: all that it is shown is wrong. Rows must be sorted
// (SortRow).
PrecisionThreshold ChoosePrecisionThreshold(std::span<const GuaranteeRow> rows,
                                            const PrecisionRisk& wanted,
                                            std::span<const double> grid);

}  // namespace tandem::eval
