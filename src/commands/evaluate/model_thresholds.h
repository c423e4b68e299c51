// `tandem evaluate --model --thresholds`: what thresholds show of the whole corpus.
#pragma once

#include <span>

#include "commands/evaluate/threshold_output.h"
#include "eval/samples/auc.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// `samples` as search::Retrieve and search::CountMissingPositives give them: first those of the
// queries of `rows`, in their order. Documents below a query's samples are counted in a second pass
// over `rows`, so that every precision is that of the whole corpus. Needs tensors.
ThresholdReport ThresholdsOfModel(std::span<const eval::QuerySamples> samples,
                                  const search::SearchedRows& rows,
                                  const ThresholdRequest& request);

}  // namespace tandem::app
