// Mean average precision.
//
//   AP@k = 1/R * sum over positives at rank r <= k of (positives within r) / r
//
// R counts all judged positives; those that were not retrieved within the cut-off add 0.
#include <algorithm>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

double AveragePrecision(const JudgedRanking& ranking, const Measure& measure) {
  if (ranking.positive_count == 0) return 0;
  double sum = 0;
  size_t found = 0;
  for (size_t i = 0; i < std::min(measure.cut_off, ranking.results.size()); ++i) {
    if (!ranking.IsPositive(i)) continue;
    ++found;
    sum += static_cast<double>(found) / static_cast<double>(i + 1);
  }
  return sum / static_cast<double>(ranking.positive_count);
}

}  // namespace

extern const MeasureInfo kMap{
    {.name = "map",
     .summary = "mean over the positives of the precision at their rank; with @k, 0 beyond rank k",
     .source = "Buckley and Voorhees 2005, as trec_eval's map and map_cut_k"},
    {.cut_off = CutOff::kOptional,
     .trec_eval_name = "map",
     .trec_eval_cut_name = "map_cut",
     .ir_measures_name = "AP"},
    AveragePrecision};

}  // namespace tandem::eval
