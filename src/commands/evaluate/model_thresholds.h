// `tandem evaluate --model --thresholds`: measures thresholds on the whole corpus.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "commands/evaluate/evaluate_command.h"
#include "commands/evaluate/threshold_file.h"
#include "commands/evaluate/threshold_output.h"
#include "eval/samples/applied_thresholds.h"
#include "eval/samples/auc.h"
#include "model/dual_encoder.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// `samples` are those of search::Retrieve and search::CountMissingPositives: first those of the
// queries of `rows`, in their order. Documents with scores below a query's samples are counted in a
// second pass over `rows`, so that every precision is that of the whole corpus. Needs tensors.
ThresholdReport ThresholdsOfModel(std::span<const eval::QuerySamples> samples,
                                  const search::SearchedRows& rows,
                                  const ThresholdRequest& request);

// What each threshold shows of each query, [thresholds, samples], queries in ascending order of
// their ids. `samples` and `rows` as above; every document of the corpus counts.
std::vector<std::vector<eval::QueryShown>> ShownByModel(std::span<const eval::QuerySamples> samples,
                                                        const search::SearchedRows& rows,
                                                        std::span<const SavedThreshold> thresholds);

// What thresholds of this model are chosen or measured on: `queries` of a data set.
ThresholdSource SourceOfModel(model::DualEncoder& model, const EvaluatedSet& set,
                              const EvaluateOptions& options, size_t queries);

}  // namespace tandem::app
