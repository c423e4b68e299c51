// R-precision: precision at R, the number of judged positives of the query.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double RPrecision(const JudgedRanking& ranking, const Measure&) {
  const size_t positives = ranking.positive_count;
  if (positives == 0) return 0;
  return static_cast<double>(ranking.PositivesWithin(positives)) / static_cast<double>(positives);
}

}  // namespace

extern const MeasureInfo kRprec{
    {.name = "rprec",
     .summary = "share of positives among the first R results, R the number of positives",
     .source = "Buckley and Voorhees 2005, as trec_eval's Rprec"},
    {.trec_eval_name = "Rprec"},
    RPrecision};

}  // namespace tandem::eval
