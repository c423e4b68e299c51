// Rank-biased precision: the share of positives that a reader meets who goes on to the next result
// with probability p, always.
//
//   RBP = (1 - p) * sum over positives at rank r of p^(r - 1)
//
// A ranking of positives without end has 1, one of k of them 1 - p^k. Positives that were not
// retrieved do not matter.
#include <algorithm>

#include "eval/measure.h"

namespace tandem::eval {
namespace {

// ir_measures' default is 0.8, a reader of five results on average. With p = 1 nobody would stop,
// and the sum would have no bound.
constexpr config::ParamInfo kRbpParams[] = {config::Number(
    "p", "", "persistence: the chance that a reader goes on to the next result", 0.8, {0, 0.9999})};

double RankBiasedPrecision(const JudgedRanking& ranking, const Measure& measure) {
  const double persistence = measure.params.Number("p");
  double sum = 0;
  double weight = 1;
  for (size_t i = 0; i < std::min(measure.cut_off, ranking.results.size()); ++i) {
    if (ranking.IsPositive(i)) sum += weight;
    weight *= persistence;
  }
  return (1 - persistence) * sum;
}

}  // namespace

extern const MeasureInfo kRbp{
    {.name = "rbp",
     .summary = "share of positives met by a reader who goes on with probability p at each result",
     .source = "Moffat and Zobel 2008, eq. 2, with gains 0 and 1, as ir_measures' RBP(rel=1); "
               "differs from trec_eval 10: p is 0.8, there 0.9, and grades are no gains",
     .params = kRbpParams},
    {.cut_off = CutOff::kOptional},
    RankBiasedPrecision};

}  // namespace tandem::eval
