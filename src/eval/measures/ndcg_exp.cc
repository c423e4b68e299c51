// Normalized discounted cumulative gain with exponential gains, by which a document of the highest
// grade is worth much more than one of the next.
//
//   DCG@k = sum over ranks r = 1..k of (2^grade(r) - 1) / log2(r + 1),   over that of the best
//   ranking
//
// It is like ndcg in all else.
#include <algorithm>
#include <cmath>

#include "eval/measure.h"
#include "eval/normalized_gain.h"

namespace tandem::eval {
namespace {

// Above it, a sum of gains may not be finite any more.
constexpr double kNdcgExpLargeGrade = 900;

double NdcgExp(const JudgedRanking& ranking, const Measure& measure) {
  // Gains times 2^-shift: a common factor changes nothing. 0 for all grades that people give.
  const double shift = std::max(0.0, HighestGrade(ranking) - kNdcgExpLargeGrade);
  const double one = std::exp2(-shift);
  return NormalizedGain(ranking, measure.cut_off,
                        [shift, one](double grade) { return std::exp2(grade - shift) - one; });
}

}  // namespace

extern const MeasureInfo kNdcgExp{
    {.name = "ndcg_exp",
     .summary = "as ndcg, with gains 2^grade - 1",
     .source = "Burges et al. 2005, as gdeval.pl 1.2; differs: not rounded, queries without a "
               "positive count as 0, grades may be fractions and above 4"},
    {.cut_off = CutOff::kOptional, .grades = GradeUse::kGains},
    NdcgExp};

}  // namespace tandem::eval
