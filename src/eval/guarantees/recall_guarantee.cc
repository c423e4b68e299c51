#include "eval/guarantees/recall_guarantee.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tandem::eval {
namespace {

// Shares such as 1/3 sum up to whole queries only nearly; this share of a query is their rounding.
constexpr double kShareRounding = 1e-9;

}  // namespace

RecallThreshold ChooseRecallThreshold(std::span<const GuaranteeRow> rows, double risk) {
  RecallThreshold chosen;
  std::vector<std::pair<double, double>> positives;  // score, share of its query's positives
  for (const GuaranteeRow& row : rows) {
    if (row.positives == 0) {
      ++chosen.without_positive;
      continue;
    }
    ++chosen.queries;
    for (const LabelledDocument& one : row.documents) {
      if (one.positive) positives.emplace_back(one.score, 1.0 / static_cast<double>(row.positives));
    }
  }
  std::sort(positives.begin(), positives.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto queries = static_cast<double>(chosen.queries);
  double kept = 0;
  for (size_t i = 0; i < positives.size(); ++i) {
    kept += positives[i].second;
    if (i + 1 < positives.size() && positives[i + 1].first == positives[i].first) continue;
    const double lost = queries - kept;
    if (lost + 1 <= risk * (queries + 1) + kShareRounding) {
      chosen.threshold = positives[i].first;
      break;
    }
  }
  chosen.mean_loss = chosen.queries == 0 ? 0 : std::max(0.0, queries - kept) / queries;
  return chosen;
}

}  // namespace tandem::eval
