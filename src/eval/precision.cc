// Precision: positives within the first k results over k. Fewer than k results count as if
// negatives filled the rest.
#include "eval/measure.h"

namespace tandem::eval {
namespace {

double Precision(const JudgedRanking& ranking, size_t cut_off) {
  return static_cast<double>(ranking.PositivesWithin(cut_off)) / static_cast<double>(cut_off);
}

}  // namespace

extern const MeasureInfo kPrecision{{.name = "precision",
                                     .summary = "share of positives among the first k results",
                                     .source = "as trec_eval's P_k"},
                                    CutOff::kRequired,
                                    MeasureKind::kRanking,
                                    /*graded=*/false,
                                    "",
                                    "P",
                                    Precision};

}  // namespace tandem::eval
