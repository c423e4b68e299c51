// Scores of a training set's pairs by the model that training starts from: what pruning goes by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/texts/texts.h"
#include "model/dual_encoder.h"
#include "sampling/examples.h"
#include "search/encoding/embedding_cache.h"

namespace tandem::train {

// The pairs: for each query of `examples` in its order, its positives, or with `graded_own` all
// that is judged for it.
struct PairSource {
  const sampling::Examples& examples;
  std::span<const uint32_t> query_texts;  // [examples.size()] into `queries`
  const data::Texts& queries;
  const data::Texts& documents;
  bool graded_own = false;
  // Of the texts of `queries` and `documents`; null: the model's.
  search::PromptSource query_prompt;
  search::PromptSource document_prompt;
};

struct PairScoreOptions {
  bool consistency = false;    // the reciprocal ranks too
  uint64_t seed = 1;           // of the candidates that documents are ranked among
  search::CacheOptions cache;  // its label is not used; ranking calls its between_blocks too
  bool progress = true;
};

// All [P], in the order of the pairs.
struct PairScores {
  std::vector<float> cosines;           // of the query's and the document's embedding
  std::vector<float> reciprocal_ranks;  // search/scoring/pair_scores.h; empty without `consistency`
  search::EncodeCounts query_counts;    // of the texts that had to be encoded
  search::EncodeCounts document_counts;
  double encode_seconds = 0;  // until all embeddings were there
  double seconds = 0;         // in all

  size_t encoded() const { return query_counts.texts + document_counts.texts; }
};

// In a group (options.cache.encode.group) rank 0 scores; the others encode with it, and have no
// scores.
//
// Encodes the distinct texts of the queries and of their pairs' documents, or finds their
// embeddings in the cache, and scores every pair. A document that is relevant for a query (a
// positive, or of a grade above 0) is no candidate of that query's ranks, nor of those of a query
// with the same text. Throws as EmbedDistinct
// and search/scoring/pair_scores.h.
PairScores ScorePairs(model::DualEncoder& model, const PairSource& source,
                      const PairScoreOptions& options);

// Whether any query has a document to be ranked against, a positive of other queries that is
// neither relevant for it nor of its pairs. Where none has, `consistency` says nothing: every rank
// is 1.
bool HasCandidates(const PairSource& source);

// What is wrong with data for which HasCandidates is false, to follow the name of the key or flag.
inline constexpr const char* kNoCandidates =
    "is \"consistency\", which ranks a document among the positives of other queries, and here "
    "every "
    "query knows all positives as its own; use \"cosine\", or give more queries";

// What ScorePairs would have to do.
struct PairScoreWork {
  size_t pairs = 0;
  size_t texts = 0;    // distinct, of queries and of documents
  size_t kept = 0;     // of them, whose embeddings are in the cache
  double seconds = 0;  // to encode the others, by a sample of them

  bool encodes() const { return kept < texts; }
};

// Looks into the cache and, where embeddings are missing, takes the time of at most 64 texts of
// each kind. Keeps nothing. Throws as LookIntoCache.
PairScoreWork WorkOfScoring(model::DualEncoder& model, const PairSource& source,
                            const PairScoreOptions& options);

}  // namespace tandem::train
