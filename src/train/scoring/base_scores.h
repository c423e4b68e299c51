// Scores the pairs of a training set with the model that training starts from. Pruning uses the
// scores.
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

// The pairs of queries and documents to score: for each query of `examples` in order, its
// positives, or with `graded_own` all documents that are judged for it.
struct PairSource {
  const sampling::Examples& examples;
  std::span<const uint32_t> query_texts;  // [examples.size()] into `queries`
  const data::Texts& queries;
  const data::Texts& documents;
  bool graded_own = false;
  // Prompts of the texts of `queries` and `documents`; null: the model's prompts.
  search::PromptSource query_prompt;
  search::PromptSource document_prompt;
};

struct PairScoreOptions {
  bool consistency = false;    // compute the reciprocal ranks too
  uint64_t seed = 1;           // for drawing the candidates that documents are ranked among
  search::CacheOptions cache;  // its label is not used; ranking calls its between_blocks too
  bool progress = true;
};

// The scores of the pairs, all arrays [P], in the order of the pairs.
struct PairScores {
  std::vector<float> cosines;           // of the embeddings of query and document
  std::vector<float> reciprocal_ranks;  // search/scoring/pair_scores.h; empty without `consistency`
  search::EncodeCounts query_counts;    // texts that had to be encoded
  search::EncodeCounts document_counts;
  double encode_seconds = 0;  // time until all embeddings were ready
  double seconds = 0;         // total time

  size_t encoded() const { return query_counts.texts + document_counts.texts; }
};

// Encodes the distinct texts of the queries and of their pairs' documents, or finds their
// embeddings in the cache, and scores every pair. A document that is relevant for a query (a
// positive, or one with a grade above 0) is no candidate for the ranks of that query, nor for those
// of a query with the same text. In a group (options.cache.encode.group), rank 0 scores; the others
// help to encode and get no scores. Throws as EmbedDistinct and search/scoring/pair_scores.h.
PairScores ScorePairs(model::DualEncoder& model, const PairSource& source,
                      const PairScoreOptions& options);

// Whether any query has a document to be ranked against: a positive of another query that is
// neither relevant for it nor in its pairs. If no query has one, `consistency` says nothing,
// because every rank is 1.
bool HasCandidates(const PairSource& source);

// Says what is wrong with data for which HasCandidates is false; it follows the name of the key or
// flag.
inline constexpr const char* kNoCandidates =
    "is \"consistency\", which ranks a document among the positives of other queries, and here "
    "every "
    "query knows all positives as its own; use \"cosine\", or give more queries";

// The work that ScorePairs would have to do.
struct PairScoreWork {
  size_t pairs = 0;
  size_t texts = 0;    // distinct texts of queries and documents
  size_t kept = 0;     // those whose embeddings are in the cache
  double seconds = 0;  // time to encode the others, estimated from a sample

  bool encodes() const { return kept < texts; }
};

// Looks into the cache and, if embeddings are missing, times the encoding of at most 64 texts of
// each kind. Keeps no embeddings. Throws as LookIntoCache.
PairScoreWork WorkOfScoring(model::DualEncoder& model, const PairSource& source,
                            const PairScoreOptions& options);

}  // namespace tandem::train
