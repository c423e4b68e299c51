// The catalogue entries of eval/samples/auc.h.
#include "eval/measure.h"
#include "eval/samples/auc.h"

namespace tandem::eval {

extern const MeasureInfo kAuc{
    {.name = "auc",
     .summary = "chance that a positive scores above one of the 500 best other documents of any "
                "query",
     .source = "MW paper §5.1; differs: ties count half"},
    {.kind = MeasureKind::kSamplesPooled},
    nullptr,
    PooledAuc};

extern const MeasureInfo kAucPerQuery{
    {.name = "auc_per_query",
     .summary = "auc within each query, then the mean over queries",
     .source = "MW paper §5.1, not pooled; differs: ties count half"},
    {.kind = MeasureKind::kSamplesPerQuery},
    nullptr,
    PooledAuc};

}  // namespace tandem::eval
