#include "eval/guarantees/guarantee_rows.h"

#include <algorithm>

#include "eval/samples/auc.h"

namespace tandem::eval {

void SortRow(size_t depth, GuaranteeRow* row) {
  for (const LabelledDocument& one : row->documents) RefuseNan({&one.score, 1});
  std::sort(row->documents.begin(), row->documents.end(),
            [](const LabelledDocument& a, const LabelledDocument& b) {
              if (a.score != b.score) return a.score > b.score;
              return a.positive != b.positive ? b.positive : a.judged && !b.judged;
            });
  if (depth == 0 || row->documents.size() < depth) return;
  row->documents.resize(depth);
  // The last score may have been cut among equals, but no more than `depth` documents are shown.
  if (row->documents.back().score >= row->known_above) {
    row->known_above = -std::numeric_limits<double>::infinity();
  }
}

double MissedShare(const GuaranteeRow& row, double threshold) {
  if (row.positives == 0) return 0;
  const auto shown = std::count_if(
      row.documents.begin(), row.documents.end(),
      [threshold](const LabelledDocument& one) { return one.positive && one.score >= threshold; });
  return static_cast<double>(row.positives - static_cast<size_t>(shown)) /
         static_cast<double>(row.positives);
}

bool ShowsAny(const GuaranteeRow& row, double threshold) {
  return !row.documents.empty() && row.documents.front().score >= threshold;
}

std::vector<double> WrongShares(const GuaranteeRow& row, std::span<const double> thresholds,
                                bool judged_only) {
  std::vector<double> shares;
  shares.reserve(thresholds.size());
  size_t next = 0, counted = 0, wrong = 0;
  for (const double threshold : thresholds) {
    for (; next < row.documents.size() && row.documents[next].score >= threshold; ++next) {
      const LabelledDocument& one = row.documents[next];
      if (judged_only && !one.judged) continue;
      wrong += one.positive ? 0 : 1;
      ++counted;
    }
    const double share =
        counted == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(counted);
    shares.push_back(threshold <= row.known_above ? 1 : share);
  }
  return shares;
}

}  // namespace tandem::eval
