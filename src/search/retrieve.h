// Ranks the corpus of a data set for each judged query by a model's scores, and collects the score
// samples of an AUC.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/run.h"
#include "eval/auc.h"
#include "model/dual_encoder.h"
#include "search/encode.h"
#include "search/exact.h"

namespace tandem::search {

// The embeddings that a search compared, as it compared them: of length 1 for cosines.
struct SearchedRows {
  at::Tensor queries;                 // float32 [Q, E]
  std::vector<at::Tensor> documents;  // float32 [n, E] each, in the order of the corpus
};

struct RetrieveOptions {
  size_t top_k = 1000;
  // > 0: also collect score samples for an AUC, where a document is a positive from this grade on.
  double relevance_level = 0;
  EncodeOptions encode;  // its label is not used
  bool progress = true;
  // Folder that keeps the corpus's embeddings: used when it has those of the same model and texts,
  // else they are made and kept there. Empty: none.
  std::filesystem::path embeddings;
  // Receives all embeddings, for a second count (search/score_counts.h). Null: no block of them
  // outlives its search. 4 E bytes a document.
  SearchedRows* keep = nullptr;
};

struct Retrieved {
  data::Run run;                            // views into the data set's documents
  std::vector<eval::QuerySamples> samples;  // of the judged queries; views into its queries
};

// Every query of `dataset.judged` against all documents. Never holds a matrix of queries x corpus;
// holds all embeddings of the corpus only where `options.embeddings` keeps them. Warns about
// truncated and empty texts.
Retrieved Retrieve(model::DualEncoder& model, const data::Dataset& dataset,
                   const RetrieveOptions& options);

// The best documents for each of `queries`, given as text.
std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model, const data::Texts& documents,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options);

}  // namespace tandem::search
