// Recall at a score: how complete a query's answer is when every result of at least that score is
// shown and nothing else.
//
//   found / R
//
// where `found` are the positives among the results shown and R all judged positives. The mean over
// queries is that of their values ("macro").
//
// 0 where nothing is shown, and where the query has no positive.
#include "eval/measure.h"
#include "eval/measures/shown_results.h"

namespace tandem::eval {
namespace {

double SetRecall(const JudgedRanking& ranking, const Measure& measure) {
  const ShownResults at = ResultsFrom(ranking, measure.score);
  if (ranking.positive_count == 0) return 0;
  return static_cast<double>(at.found) / static_cast<double>(ranking.positive_count);
}

}  // namespace

extern const MeasureInfo kSetRecall{
    {.name = "set_recall",
     .summary = "share of the positives among the results of at least a score",
     .source = "as trec_eval's set_recall of the results of at least that score"},
    {.cut_off = CutOff::kScore},
    SetRecall};

}  // namespace tandem::eval
