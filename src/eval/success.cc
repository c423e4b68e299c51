// Success: 1 where a positive is within the first k results, else 0.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Success(const JudgedRanking& ranking, size_t cut_off) {
  return ranking.PositivesWithin(cut_off) > 0 ? 1 : 0;
}

}  // namespace

extern const MeasureInfo kSuccess{{.name = "success",
                                   .summary = "whether any positive is within the first k results",
                                   .source = "as trec_eval's success_k"},
                                  CutOff::kRequired,
                                  MeasureKind::kRanking,
                                  /*graded=*/false,
                                  "",
                                  "success",
                                  Success};

}  // namespace tandem::eval
