// The guarantees of a model: thresholds that promise something, and what the promises rest on, as
// tandem.json has them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/guarantees/promise.h"

namespace tandem::weights {

// The deepest that a promise of a query's best documents is made (calibrate --depth).
inline constexpr size_t kMostGuaranteeDepth = 500;

// A promise that is kept by showing the documents that score at least `threshold`.
struct Guarantee {
  eval::Promise promise;
  // It is for the queries whose field `by` is `group`; both "": for all.
  std::string by;
  std::string group;
  double threshold = 0;
  size_t depth = 0;          // at most so many documents are shown; 0: all above the threshold
  bool judged_only = false;  // of precision: documents that nobody judged are not counted
  std::string unanswerable;  // of no-answer: the queries that it was made with, for people
  // What was seen on the calibration queries, at the threshold.
  size_t queries = 0;
  double loss = 0;     // mean loss: missed, wrong or answered share
  double nothing = 0;  // share of the queries that get nothing

  // "recall=0.9", "recall=0.9 for lang=en": how it is asked for.
  std::string Name() const;
};

// What decides the scores that thresholds are compared with, and where the queries came from.
struct GuaranteeBasis {
  std::string data;  // the last part of the data set's path
  std::string split;
  std::string data_fingerprint;  // of queries, judgements and documents; 16 hexadecimal digits
  std::string date;              // of the calibration, UTC: "2026-11-28"
  size_t documents = 0;          // of the corpus
  double relevance_level = 1;
  std::string model_fingerprint;  // of weights and settings, 16 hexadecimal digits
  std::string similarity;         // "cosine" or "dot"
  std::string precision;          // that embeddings were computed in
  size_t width = 0;
  std::string query_prompt, document_prompt;
  size_t max_query_tokens = 0, max_document_tokens = 0;
};

struct Guarantees {
  GuaranteeBasis basis;
  std::vector<Guarantee> promises;  // at least one
  // The best score of each calibration query, or of as many drawn at random of them as are kept:
  // what queries of a server are compared with.
  std::vector<float> best_scores;
};

}  // namespace tandem::weights
