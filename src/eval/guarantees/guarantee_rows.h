// What guarantees are computed from: for each calibration query the scores of its documents, and
// which of them are positives.
//
// A threshold L shows the documents of a query that score at least L. Losses are shares of one
// query, from 0 to 1; the guarantees bound their mean over queries.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::eval {

struct LabelledDocument {
  double score = 0;
  bool positive = false;
  bool judged = true;  // false: nobody judged it, and it counts as no positive or not at all
};

struct GuaranteeRow {
  std::string_view query;
  // In any order until SortRow. A document that is not here is never shown.
  std::vector<LabelledDocument> documents;
  size_t positives = 0;  // of the query, also those that are not among the documents
  // Documents that score this or less are not all known: the search ended there. A threshold at or
  // below it shows what nobody has counted.
  double known_above = -std::numeric_limits<double>::infinity();
};

// Sorts by score, descending; where scores tie, judged negatives come first, then what nobody
// judged and then positives, since nothing says which of them would be shown. Keeps the best
// `depth` documents (0: all): then a query is never shown more, and everything is known.
void SortRow(size_t depth, GuaranteeRow* row);

// The share of the row's positives that score below `threshold`; 0 of a row without positives.
double MissedShare(const GuaranteeRow& row, double threshold);

// Whether any document scores `threshold` or more. Of a sorted row.
bool ShowsAny(const GuaranteeRow& row, double threshold);

// The share of the shown documents that are no positives: 0 where nothing is shown, and 1, the
// worst there is, where the row does not know what is shown (`known_above`). With `judged_only`
// documents that nobody judged are neither right nor wrong: the share is of the judged ones among
// what is shown. One for each of `thresholds` [G], which descend. Of a sorted row; O(documents +
// G).
std::vector<double> WrongShares(const GuaranteeRow& row, std::span<const double> thresholds,
                                bool judged_only = false);

}  // namespace tandem::eval
