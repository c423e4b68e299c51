// Bodies of requests, read into plain structs. Everything that a client may get wrong is an
// ApiError that names the member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/backend.h"

namespace tandem::serve {

struct RequestLimits {
  size_t texts = 2048;   // of one request, as at OpenAI; pairs too
  size_t queries = 128;  // of one search
  size_t k = 1000;
  size_t answer_bytes = size_t{64} << 20;  // of a search's answer, which has documents' texts
};

struct EmbeddingRequest {
  std::vector<std::string> texts;
  TextKind kind = TextKind::kDocument;
  bool base64 = false;
  size_t dimensions = 0;  // 0: all
  std::string model;      // ""; not given
};

// Scores of pairs: of one query with every document, or of pairs as they are given.
struct SimilarityRequest {
  std::vector<std::string> queries;
  std::vector<std::string> documents;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // query, document
};

struct SearchRequest {
  std::vector<std::string> queries;
  bool single = false;  // `query`, not `queries`: results are not one level deeper
  bool texts = true;
  SearchOptions options;
};

// `body` gets room behind its end, which the parser reads. Nothing nests deeper than 16 levels.
// The members of POST /v1/embeddings; those that OpenAI may add are passed over.
EmbeddingRequest ParseOpenAiEmbeddings(std::string* body, const RequestLimits& limits);
// The other three take no members but their own.
EmbeddingRequest ParseEmbed(std::string* body, const RequestLimits& limits);
SimilarityRequest ParseSimilarity(std::string* body, const RequestLimits& limits);
SearchRequest ParseSearch(std::string* body, const RequestLimits& limits);

}  // namespace tandem::serve
