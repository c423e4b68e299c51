// Recall: the share of all judged positives within the first k results.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Recall(const JudgedRanking& ranking, const Measure& measure) {
  if (ranking.positive_count == 0) return 0;
  return static_cast<double>(ranking.PositivesWithin(measure.cut_off)) /
         static_cast<double>(ranking.positive_count);
}

}  // namespace

extern const MeasureInfo kRecall{
    {.name = "recall",
     .summary = "share of the positives within the first k results",
     .source = "as trec_eval's recall_k"},
    {.cut_off = CutOff::kRequired, .trec_eval_cut_name = "recall", .ir_measures_name = "R"},
    Recall};

}  // namespace tandem::eval
