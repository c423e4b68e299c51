// Evaluates one model on one data set, for `tandem evaluate`. Needs tensors.
#pragma once

#include <filesystem>
#include <string>

#include "commands/evaluate/evaluate_command.h"
#include "commands/evaluate/evaluation_plan.h"
#include "model/dual_encoder.h"

namespace tandem::app {

// The folders where the embeddings of a corpus are kept.
struct EmbeddingPlaces {
  std::filesystem::path embeddings;  // embeddings/layouts/kept.h; empty: none
  std::filesystem::path cache;       // search/encoding/embedding_cache.h; empty: none
};

// Scores the judged queries of the set against its corpus, a pool of it or the candidates, and
// evaluates `measures` (separated by commas) as `options` say. Notes the size of a pool and counts
// of candidates. Throws DataError as LoadJudgedData and ReadCandidates do, and for a corpus of one
// document.
ModelEvaluation EvaluateModel(model::DualEncoder& model, const EvaluatedSet& set,
                              const std::string& measures, const EvaluateOptions& options,
                              const EmbeddingPlaces& places);

}  // namespace tandem::app
