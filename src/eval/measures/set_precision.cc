// Precision at a score: how much of a query's answer is right when every result of at least that
// score is shown and nothing else.
//
//   found / shown
//
// where `found` are the positives among the results shown. The mean over queries is that of
// their values ("macro").
//
// 0 where nothing is shown: a query that gets no answer counts as one that gets a wrong one. The
// precision of all queries together, which leaves such queries out, is what `evaluate
// --apply-thresholds` measures.
#include "eval/measure.h"
#include "eval/measures/shown_results.h"

namespace tandem::eval {
namespace {

double SetPrecision(const JudgedRanking& ranking, const Measure& measure) {
  const ShownResults at = ResultsFrom(ranking, measure.score);
  if (at.shown == 0) return 0;
  return static_cast<double>(at.found) / static_cast<double>(at.shown);
}

}  // namespace

extern const MeasureInfo kSetPrecision{
    {.name = "set_precision",
     .summary = "share of positives among the results of at least a score",
     .source = "as trec_eval's set_P of the results of at least that score"},
    {.cut_off = CutOff::kScore},
    SetPrecision};

}  // namespace tandem::eval
