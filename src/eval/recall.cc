// Recall: the share of all judged positives within the first k results.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Recall(const JudgedRanking& ranking, size_t cut_off) {
  if (ranking.positives.empty()) return 0;
  return static_cast<double>(ranking.PositivesWithin(cut_off)) /
         static_cast<double>(ranking.positives.size());
}

}  // namespace

extern const MeasureInfo kRecall{{.name = "recall",
                                  .summary = "share of the positives within the first k results",
                                  .source = "as trec_eval's recall_k"},
                                 CutOff::kRequired,
                                 MeasureKind::kRanking,
                                 /*graded=*/false,
                                 "",
                                 "recall",
                                 Recall};

}  // namespace tandem::eval
