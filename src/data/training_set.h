// What training draws batches from: queries with their positives, and what must be masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "data/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// A query with at least one positive. Every document that is judged for it is in exactly one of the
// two lists, both in file order.
struct TrainingQuery {
  uint32_t query = 0;                // into TrainingSet::queries
  std::vector<Judgement> positives;  // raw grade >= positive_grade
  // Judged below positive_grade. Those with grade > 0 are relevant to some degree: they are no
  // negatives of this query, in the batch or mined. Grade 0 is a judged (hard) negative; below 0
  // is "not judged", as in trec_eval.
  std::vector<Judgement> others;
};

// Whether `document` may never count as a negative of `query` by its judgement: a positive, or one
// with 0 < grade < positive_grade. Copies (same text) are the caller's to compare, by hash.
bool IsRelevant(const TrainingQuery& query, uint32_t document);

// Can be moved, not copied (Texts).
struct TrainingSet {
  Texts queries;                          // all of the data set's, those without a positive too
  Texts documents;                        // the whole corpus
  std::vector<TrainingQuery> examples;    // in the order of Dataset::judged
  std::vector<uint64_t> query_hashes;     // TextHash of each query's text
  std::vector<uint64_t> document_hashes;  // TextHash of each document's text
  size_t queries_without_positive = 0;    // judged queries that were left out
  size_t pair_count = 0;                  // positives of all examples together
};

// Splits the judgements of `dataset` at `positive_grade` (raw, as in the qrels; METHODS §1). Judged
// queries without a positive are left out and counted in `warnings` (stderr where null). Throws
// UsageError for a positive_grade that is not a positive number, DataError when no query has a
// positive.
TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, Warnings* warnings = nullptr);

}  // namespace tandem::data
