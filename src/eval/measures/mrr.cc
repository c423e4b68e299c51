// Mean reciprocal rank: 1 / rank of the first positive, 0 where none is within the cut-off.
#include <algorithm>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

double ReciprocalRank(const JudgedRanking& ranking, const Measure& measure) {
  for (size_t i = 0; i < std::min(measure.cut_off, ranking.results.size()); ++i) {
    if (ranking.IsPositive(i)) return 1.0 / static_cast<double>(i + 1);
  }
  return 0;
}

}  // namespace

extern const MeasureInfo kMrr{
    {.name = "mrr",
     .summary = "one over the rank of the first positive; with @k, 0 beyond rank k",
     .source = "Voorhees 1999; without a cut-off as trec_eval's recip_rank"},
    {.cut_off = CutOff::kOptional, .trec_eval_name = "recip_rank", .ir_measures_name = "RR"},
    ReciprocalRank};

}  // namespace tandem::eval
