// Embeddings for the views of an embedding space (eval/views/embedding_views.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/run.h"
#include "eval/views/embedding_views.h"
#include "model/dual_encoder.h"
#include "search/encode.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

struct ViewRowOptions {
  double relevance_level = 1;  // grade from which a document is a positive
  size_t most_queries = 2000;  // of more, a sample: their texts are all that is encoded
  uint64_t seed = 1;           // of the sample
  EncodeOptions encode;
  std::filesystem::path cache;  // search/encoding/embedding_cache.h; empty: none
};

struct ViewEmbeddings {
  std::vector<uint32_t> judged;            // [Q]: which of dataset.judged, ascending
  tensor::Tensor queries;                  // float32 [Q, E], as the model makes them
  tensor::Tensor nearest;                  // [Q, E]
  tensor::Tensor positives;                // [P, E]
  std::vector<uint32_t> positive_queries;  // [P]

  // Views into these tensors.
  eval::ViewRows rows() const;
};

// Encodes the judged queries that `run` has results for, for each the document that ranks first in
// `run`, and its positive: of several the one of the highest grade, of equals the first in the
// corpus; none where no judged document in the corpus is a positive. A text is encoded once,
// however often it occurs. `run` names documents of `dataset`.
ViewEmbeddings EncodeForViews(model::DualEncoder& model, const data::Dataset& dataset,
                              const data::Run& run, const ViewRowOptions& options);

}  // namespace tandem::search
