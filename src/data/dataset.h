// Documents, queries and judgements in memory, whatever file format they came from.
//
// Made by data/read_dataset.h and the readers behind it; data/training_set.h makes of it what
// training needs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "data/qrels.h"
#include "data/texts.h"

namespace tandem::data {

inline constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

struct Judgement {
  uint32_t document = 0;
  double grade = 0;         // as judged, or 1 for a positive and 0 for a negative of a line
  double score = kNoScore;  // what a line gives beside it; ScoreKind says what it means
  uint32_t line = 0;        // of the file; 0: not known

  bool has_score() const { return !std::isnan(score); }
};

// What the scores of a data set are.
enum class ScoreKind {
  kNone,
  kPairs,          // of a line's one pair: its grade, or a teacher's score
  kLists,          // of every document of a line: grades, or a teacher's scores
  kProbabilities,  // grades in [0, 1], expected under a judge's probabilities
  kMargins         // differences to the line's positive, whose score is 0: a teacher's only
};

// What is judged for each query of a split; queries without judgement are absent.
struct JudgedQuery {
  uint32_t query = 0;
  std::vector<Judgement> judgements;  // in file order, each document once
};

// Can be moved, not copied (Texts).
struct Dataset {
  Texts documents;
  Texts queries;
  std::vector<JudgedQuery> judged;  // of the split that was read, in file order of first mention
  std::string file;                 // that judges; for messages
  ScoreKind scores = ScoreKind::kNone;
  bool has_grades = false;  // else a grade only tells positives (1) from negatives (0) of a line
};

// The judgements of `dataset` by id, as eval/evaluate.h takes them.
Qrels QrelsOf(const Dataset& dataset);

}  // namespace tandem::data
