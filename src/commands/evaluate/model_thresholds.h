// `tandem evaluate --model --thresholds`: measures thresholds on the whole corpus.
#pragma once

#include <span>

#include "commands/evaluate/threshold_output.h"
#include "eval/samples/auc.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// `samples` are those of search::Retrieve and search::CountMissingPositives: first those of the
// queries of `rows`, in their order. Documents with scores below a query's samples are counted in a
// second pass over `rows`, so that every precision is that of the whole corpus. Needs tensors.
ThresholdReport ThresholdsOfModel(std::span<const eval::QuerySamples> samples,
                                  const search::SearchedRows& rows,
                                  const ThresholdRequest& request);

}  // namespace tandem::app
