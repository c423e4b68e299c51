// Scores of judged pairs by the embeddings of their texts.
#pragma once

#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/judged_pairs.h"
#include "model/dual_encoder.h"
#include "search/encoding/embedding_cache.h"

namespace tandem::search {

struct BiEncoderScores {
  std::vector<float> scores;  // [P], in the order of the pairs
  EncodeCounts query_counts;  // of the texts that had to be encoded
  EncodeCounts document_counts;
};

// Encodes the distinct texts of the pairs, or finds their embeddings in the cache, and compares
// those of each pair by `similarity`, "cosine" or "dot". Throws as EmbedDistinct and PairCosines.
BiEncoderScores ScoreByEmbeddings(model::DualEncoder& model, const data::Dataset& dataset,
                                  const data::JudgedPairs& pairs, std::string_view similarity,
                                  const CacheOptions& cache);

}  // namespace tandem::search
