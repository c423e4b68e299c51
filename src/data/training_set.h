// The queries that training draws batches from, with their judged documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/texts/texts.h"
#include "data/warnings.h"

namespace tandem::data {

// A query with its judged documents. Every one of them is in exactly one of the lists, each in file
// order. A grade below 0 means "not judged", as in trec_eval.
struct TrainingQuery {
  uint32_t query = 0;                // into TrainingSet::queries
  uint32_t source = 0;               // JudgedQuery::source
  std::vector<Judgement> positives;  // grade >= positive_grade
  // They are judged below positive_grade. Those with grade > 0 are relevant to some degree: no
  // negatives of this query, in the batch or mined. Grade 0 is a judged (hard) negative.
  std::vector<Judgement> others;
  // Left out of training (data/studies/label_study.h). Masks still know them: where they are
  // relevant, they are no negatives.
  std::vector<Judgement> unused;
};

// Says whether the judgement of `document` forbids it as a negative of `query`: it is a positive,
// or has 0 < grade < positive_grade. Documents with the same text are not compared here.
bool IsRelevant(const TrainingQuery& query, uint32_t document);

// Says which documents can be the one that a query is paired with in a batch.
enum class PairedDocument { kPositive, kAnyGrade };

// Copies share their texts.
struct TrainingSet {
  Texts queries;                              // all of the data set's, those without a positive too
  Texts documents;                            // the whole corpus
  std::vector<TrainingQuery> examples;        // in the order of Dataset::judged
  std::span<const uint64_t> query_hashes;     // queries.hashes()
  std::span<const uint64_t> document_hashes;  // documents.hashes()
  double positive_grade = 1;
  PairedDocument own = PairedDocument::kPositive;
  size_t queries_without_positive = 0;  // judged queries that were left out
  size_t pair_count = 0;                // positives of all examples together
  std::string file;                     // with the judgements; for messages
};

// Splits the judgements of `dataset` at `positive_grade` (docs/training.md). Judged queries without
// a document to be paired with are left out and counted in `warnings` (stderr where null): for
// kPositive those without a positive, for kAnyGrade those with nothing judged 0 or above. Throws
// UsageError for a positive_grade that is not a positive number, DataError when no query is left.
TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, PairedDocument own,
                             Warnings* warnings = nullptr);
TrainingSet BuildTrainingSet(Dataset dataset, double positive_grade, Warnings* warnings = nullptr);

// Splits a query's positives and others anew, after grades have changed.
void SplitAgain(TrainingQuery& query, double positive_grade);
// Says whether it has a document that it can be paired with.
bool HasPairedDocument(const TrainingQuery& query, PairedDocument own);

}  // namespace tandem::data
