// All judged pairs of a data set, and the data set with a model's scores of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "data/dataset.h"

namespace tandem::data {

// Query q has the documents document_of[starts[q]] to document_of[starts[q + 1] - 1]. Queries and
// documents are numbers of the data set's texts.
struct JudgedPairs {
  std::vector<uint32_t> query_of;     // [Q], the judged queries
  std::vector<size_t> starts = {0};   // [Q + 1]
  std::vector<uint32_t> document_of;  // [P]
};

// Takes judgements that say "not judged" (a grade below 0 in a file of judgements) out of the data
// set, and queries that have no other. Returns how many judgements these were. Throws DataError
// where nothing is left.
size_t DropUnjudged(Dataset& dataset);

// Every query with each of its judged documents, positives and negatives, in file order.
JudgedPairs JudgedPairsOf(const Dataset& dataset);

// The use of a model's scores.
enum class ScoreRole {
  kGrades,   // in [0, 1]
  kTeacher,  // of any scale
};

// The data set with one score for each of JudgedPairsOf its pairs, in place of the grades' values
// (BEIR) or of the scores (lines) that it had, ready to be written in `format`:
//
//   beir                    grades only: each judgement's grade is its score
//   sentence_transformers   grades, and scores of data that came as scored pairs: a line for each
//                           pair; a teacher's of others: lines of positives and negatives with a
//                           list of scores
//   flag_embedding          positives and negatives stay what they are, each with its score
//   tevatron                likewise
//
// A positive of lines is a document that was judged above 0. Throws UsageError where the format
// cannot hold such scores, naming those that can.
Dataset WithScores(const Dataset& dataset, std::span<const float> scores, ScoreRole role,
                   std::string_view format);

// Throws as WithScores does, before there are scores.
void CheckHoldsScores(ScoreRole role, std::string_view format);

}  // namespace tandem::data
