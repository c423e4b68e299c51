// Judged: the share of the first k results that somebody judged, with any grade from 0 on. Where it
// is low, the other measures say little: a result that nobody judged counts as a negative.
//
// Where there are fewer than k results, it is the share of those that there are; without any it is
// 0.
#include <algorithm>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Judged(const JudgedRanking& ranking, const Measure& measure) {
  const size_t depth = std::min(measure.cut_off, ranking.results.size());
  if (depth == 0) return 0;
  size_t judged = 0;
  for (size_t i = 0; i < depth; ++i) judged += ranking.results[i].grade >= 0;
  return static_cast<double>(judged) / static_cast<double>(depth);
}

}  // namespace

extern const MeasureInfo kJudged{
    {.name = "judged",
     .summary = "share of the first k results that were judged",
     .source = "as ir_measures' Judged; differs: a negative grade is no judgement, and ties fall "
               "as in all measures here"},
    {.cut_off = CutOff::kOptional, .grades = GradeUse::kJudgement},
    Judged};

}  // namespace tandem::eval
