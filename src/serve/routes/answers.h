// Bodies of answers, written from what the encoder and the index gave.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "serve/backend.h"
#include "serve/routes/json_request.h"

namespace tandem::serve {

// Rows [texts, E] and what they took.
struct EncodedRows {
  std::span<const float> rows;
  size_t width = 0;
  size_t tokens = 0;
  size_t truncated = 0;  // texts
};

// The row cut to its first `dimensions` numbers (0: all). One of length 1 gets it again.
std::vector<float> CutRow(std::span<const float> row, size_t dimensions);

std::string OpenAiEmbeddingsAnswer(const EmbeddingRequest& request, const EncodedRows& encoded,
                                   const std::string& model);
std::string EmbedAnswer(const EmbeddingRequest& request, const EncodedRows& encoded);

// The rows of queries stand before those of documents.
std::string SimilarityAnswer(const SimilarityRequest& request, const EncodedRows& encoded,
                             const Backend& backend);

// About how long the answer of embeddings will be.
size_t EmbeddingAnswerBytes(const EmbeddingRequest& request, size_t texts, size_t width);

// Throws ApiError for an answer of more than `most_bytes`.
std::string SearchAnswer(const SearchRequest& request,
                         const std::vector<std::vector<Found>>& results, const EncodedRows& encoded,
                         double milliseconds, size_t most_bytes);

std::string ModelsAnswer(const BackendInfo& info);
std::string InfoAnswer(const BackendInfo& info, const RequestLimits& limits);

}  // namespace tandem::serve
