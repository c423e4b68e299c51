// Mean average precision.
//
//   AP = 1/R * sum over positives at rank r of (positives within r) / r
//
// R counts all judged positives; those that were not retrieved add 0.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double AveragePrecision(const JudgedRanking& ranking, size_t) {
  if (ranking.positives.empty()) return 0;
  double sum = 0;
  size_t found = 0;
  for (size_t i = 0; i < ranking.results.size(); ++i) {
    if (!ranking.IsPositive(i)) continue;
    ++found;
    sum += static_cast<double>(found) / static_cast<double>(i + 1);
  }
  return sum / static_cast<double>(ranking.positives.size());
}

}  // namespace

extern const MeasureInfo kMap{{.name = "map",
                               .summary = "mean over the positives of the precision at their rank",
                               .source = "Buckley and Voorhees 2005, as trec_eval's map"},
                              CutOff::kNone,
                              MeasureKind::kRanking,
                              /*graded=*/false,
                              "map",
                              "",
                              AveragePrecision};

}  // namespace tandem::eval
