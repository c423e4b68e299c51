// F1 at a score: how right and how complete a query's answer is when every result of at least that
// score is shown and nothing else.
//
//   F1 = 2 * found / (shown + R)
//
// the harmonic mean of precision, found / shown, and recall, found / R, where `found` are the
// positives among the results shown and R all judged positives. The mean over queries is that of
// their values ("macro"): a query with few positives weighs as much as one with many.
//
// 0 where nothing is shown, and where the query has no positive.
#include "eval/measure.h"
#include "eval/measures/shown_results.h"

namespace tandem::eval {
namespace {

double F1(const JudgedRanking& ranking, const Measure& measure) {
  if (ranking.positive_count == 0) return 0;
  const ShownResults at = ResultsFrom(ranking, measure.score);
  return 2 * static_cast<double>(at.found) / static_cast<double>(at.shown + ranking.positive_count);
}

}  // namespace

extern const MeasureInfo kF1{
    {.name = "f1",
     .summary = "harmonic mean of precision and recall of the results of at least a score",
     .source = "van Rijsbergen 1979, as trec_eval's set_F of the results of at least that score"},
    {.cut_off = CutOff::kScore},
    F1};

}  // namespace tandem::eval
