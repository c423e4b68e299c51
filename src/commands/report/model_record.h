// Evaluates a model for a report. Needs tensors.
#pragma once

#include <string>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "report/records/evaluation_record.h"

namespace tandem::app {

// The data set on which a report's models are measured.
struct RecordedSet {
  std::string folder;  // BEIR
  std::string split;
  double relevance_level = 1;
  bool by_document = false;  // documents are ranked by their best passages
};

// Loads the model, ranks the corpus for each judged query, and records everything that a report
// shows: measures and areas with intervals, curves, thresholds, score histograms, calibrations
// (each measured without the queries that it is fitted to), views of the embedding space, the best
// and the worst queries. By document there are neither thresholds, which would count passages, nor
// views. `name` is the model's name in the report. Embeddings are kept in the
// cache. The global --seed seeds the random draws. Throws as LoadModel and LoadJudgedData do.
report::EvaluationRecord RecordModel(const Globals& globals, const ModelFlags& flags,
                                     const std::string& name, const RecordedSet& set);

}  // namespace tandem::app
