// Success: 1 where a positive is within the first k results, else 0.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Success(const JudgedRanking& ranking, const Measure& measure) {
  return ranking.PositivesWithin(measure.cut_off) > 0 ? 1 : 0;
}

}  // namespace

extern const MeasureInfo kSuccess{{.name = "success",
                                   .summary = "whether any positive is within the first k results",
                                   .source = "as trec_eval's success_k"},
                                  {.cut_off = CutOff::kRequired, .trec_eval_cut_name = "success"},
                                  Success};

}  // namespace tandem::eval
