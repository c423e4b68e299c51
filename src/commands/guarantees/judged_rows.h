// The scores that guarantees are made from and checked on: of every judged query its documents by
// score, and which of them are positives. For `tandem calibrate` and `tandem evaluate`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/judgements/qrels.h"
#include "eval/guarantees/guarantee_rows.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {

// The number of documents that are retrieved of each query, for thresholds that show many.
inline constexpr size_t kGuaranteeDepth = 1000;

struct JudgedRowOptions {
  double relevance_level = 1;
  size_t top_k = kGuaranteeDepth;  // of the search
  size_t corpus = 0;               // documents that were searched
  size_t depth = 0;                // at most so many documents are ever shown; 0: all
};

struct JudgedRows {
  // Sorted and cut to the depth; of the queries that have a text. Documents that nobody judged are
  // in them, since they take ranks of others.
  std::vector<eval::GuaranteeRow> rows;
  // [rows] The best score of each query, and the best of a document that is no positive: what the
  // query would find if its answers were held out. Queries that have none are not in the latter.
  std::vector<float> best_scores;
  std::vector<double> best_without_answer;
  size_t documents = 0;         // of all rows
  size_t unjudged = 0;          // of them
  size_t judged_negatives = 0;  // of them, that somebody judged to be no positives
};

// `retrieved` has samples for `options.relevance_level`. Views into what it and `qrels` view.
JudgedRows MakeJudgedRows(const search::Retrieved& retrieved, const data::Qrels& qrels,
                          const JudgedRowOptions& options);

}  // namespace tandem::app
