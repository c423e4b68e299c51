// Normalized discounted cumulative gain.
//
//   nDCG@k = DCG@k / ideal DCG@k,   DCG@k = sum over ranks r = 1..k of grade(r) / log2(r + 1)
//
// The ideal ranking has all judged documents by grade, retrieved or not. Gains are the grades
// themselves, whatever the relevance level; documents without judgement have gain 0.
#include "eval/measure.h"
#include "eval/normalized_gain.h"

namespace tandem::eval {
namespace {

// Above it, a sum of grades may not be finite any more.
constexpr double kNdcgLargeGrade = 1e290;

double Ndcg(const JudgedRanking& ranking, const Measure& measure) {
  // A common factor of all gains changes nothing.
  const double factor = HighestGrade(ranking) > kNdcgLargeGrade ? 1 / kNdcgLargeGrade : 1;
  return NormalizedGain(ranking, measure.cut_off,
                        [factor](double grade) { return grade * factor; });
}

}  // namespace

extern const MeasureInfo kNdcg{
    {.name = "ndcg",
     .summary = "discounted gain of the ranking over that of the best ranking; gains are grades",
     .source = "Jarvelin and Kekalainen 2002, with linear gains and log2(rank + 1), as trec_eval"},
    {.cut_off = CutOff::kOptional,
     .grades = GradeUse::kGains,
     .trec_eval_name = "ndcg",
     .trec_eval_cut_name = "ndcg_cut"},
    Ndcg};

}  // namespace tandem::eval
