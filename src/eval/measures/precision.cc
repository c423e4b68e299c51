// Precision: positives within the first k results over k. Fewer than k results count as if
// negatives filled the rest.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Precision(const JudgedRanking& ranking, const Measure& measure) {
  return static_cast<double>(ranking.PositivesWithin(measure.cut_off)) /
         static_cast<double>(measure.cut_off);
}

}  // namespace

extern const MeasureInfo kPrecision{
    {.name = "precision",
     .summary = "share of positives among the first k results",
     .source = "as trec_eval's P_k"},
    {.cut_off = CutOff::kRequired, .trec_eval_cut_name = "P", .ir_measures_name = "P"},
    Precision};

}  // namespace tandem::eval
