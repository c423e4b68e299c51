// A threshold that promises recall: answers keep at least 1 - risk of what is relevant, on average
// over queries.
//
//   const RecallThreshold chosen = ChooseRecallThreshold(rows, 0.1);
//   if (chosen.threshold) ... // shows at least 90 % of the positives of a query, on average
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "eval/guarantees/guarantee_rows.h"

namespace tandem::eval {

struct RecallThreshold {
  std::optional<double> threshold;  // a score of a positive; none: nothing can be promised
  size_t queries = 0;               // n: those with a positive
  size_t without_positive = 0;      // left out
  double mean_loss = 0;             // at the threshold; where there is none, at the lowest score
};

// Conformal risk control of l_q(L) = the share of q's positives that score below L:
//
//   the largest L with (n / (n + 1)) mean_q l_q(L) + 1 / (n + 1) <= risk.
//
// If a later query is exchangeable with the n calibration queries, the mean of its loss, over draws
// of both, is at most `risk`, for any model and any distribution; it is also at least risk - 2 / (n
// + 1) where scores do not tie and every query has one positive. Where no threshold exists nothing
// is promised, and a loss that nobody bounded is not part of that mean. Source: Angelopoulos,
// Bates, Fisch, Lei, Schuster 2022, "Conformal risk control", theorem 1, with the threshold in
// place of their lambda (the loss rises with it). They assume that the loss can be 0; here it
// cannot where a positive is missing, and no threshold may exist. Positives without a document
// count as missed at every threshold.
RecallThreshold ChooseRecallThreshold(std::span<const GuaranteeRow> rows, double risk);

}  // namespace tandem::eval
