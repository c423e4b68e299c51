// What training draws batches from: queries with their positives, and what must be masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// A query with its judged documents. Every one of them is in exactly one of the lists, each in file
// order. Below 0 is "not judged", as in trec_eval.
struct TrainingQuery {
  uint32_t query = 0;                // into TrainingSet::queries
  std::vector<Judgement> positives;  // grade >= positive_grade
  // Judged below positive_grade. Those with grade > 0 are relevant to some degree: they are no
  // negatives of this query, in the batch or mined. Grade 0 is a judged (hard) negative.
  std::vector<Judgement> others;
  // Left out of training (data/label_study.h), but known: never negatives where they are relevant.
  std::vector<Judgement> unused;
};

// Whether `document` may never count as a negative of `query` by its judgement: a positive, or one
// with 0 < grade < positive_grade. Copies (same text) are the caller's to compare, by hash.
bool IsRelevant(const TrainingQuery& query, uint32_t document);

// Which document stands for a query in a batch, its own one.
enum class OwnDocument { kPositive, kAnyGrade };

// Can be moved, not copied (Texts).
struct TrainingSet {
  Texts queries;                          // all of the data set's, those without a positive too
  Texts documents;                        // the whole corpus
  std::vector<TrainingQuery> examples;    // in the order of Dataset::judged
  std::vector<uint64_t> query_hashes;     // TextHash of each query's text
  std::vector<uint64_t> document_hashes;  // TextHash of each document's text
  double positive_grade = 1;
  OwnDocument own = OwnDocument::kPositive;
  size_t queries_without_positive = 0;  // judged queries that were left out
  size_t pair_count = 0;                // positives of all examples together
  std::string file;                     // that judges; for messages
};

// Splits the judgements of `dataset` at `positive_grade` (METHODS section 1). Judged queries that
// have no document to be their own are left out and counted in `warnings` (stderr where null): for
// kPositive those without a positive, for kAnyGrade those with nothing judged 0 or above. Throws
// UsageError for a positive_grade that is not a positive number, DataError when no query is left.
TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, OwnDocument own,
                             Warnings* warnings = nullptr);
TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, Warnings* warnings = nullptr);

// Sorts a query's positives and others again, after grades have changed.
void SplitAgain(TrainingQuery& query, double positive_grade);
// Whether it has a document that can be its own one.
bool HasOwnDocument(const TrainingQuery& query, OwnDocument own);

}  // namespace tandem::data
