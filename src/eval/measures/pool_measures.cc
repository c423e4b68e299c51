// The catalogue entries of eval/samples/roc.h.
#include "eval/measure.h"
#include "eval/samples/roc.h"

namespace tandem::eval {

extern const MeasureInfo kPartialAuc{
    {.name = "partial_auc",
     .summary = "area under the ROC curve of auc up to a false-positive rate of 0.1, over 0.1",
     .source = "McClish 1989, without the standardisation; interpolated at the border"},
    {.kind = MeasureKind::kSamplesPooled},
    nullptr,
    PartialAuc};

extern const MeasureInfo kPartialAucPerQuery{
    {.name = "partial_auc_per_query",
     .summary = "partial_auc within each query, then the mean over queries",
     .source = "as partial_auc, not pooled"},
    {.kind = MeasureKind::kSamplesPerQuery},
    nullptr,
    PartialAuc};

extern const MeasureInfo kPoolAp{
    {.name = "pool_ap",
     .summary = "average precision of all queries' samples of auc in one ranking by score",
     .source = "average precision with one point for each distinct score, as scikit-learn's"},
    {.kind = MeasureKind::kSamplesPooled},
    nullptr,
    PoolAveragePrecision};

}  // namespace tandem::eval
