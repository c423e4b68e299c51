// Documents, queries and judgements in memory, whatever file format they came from.
//
// data/read_dataset.h reads one; data/training_set.h makes a training set of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "data/judgements/qrels.h"
#include "data/texts/texts.h"

namespace tandem::data {

inline constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

struct Judgement {
  uint32_t document = 0;
  double grade = 0;         // as judged, or 1 for a positive and 0 for a negative of a line
  double score = kNoScore;  // the score that a line gives; ScoreKind says what it means
  uint32_t line = 0;        // of the file; 0: not known

  bool has_score() const { return !std::isnan(score); }
};

// The form in which the scores of a data set are written.
enum class ScoreKind {
  kNone,
  kPairs,          // of a line's one pair: its grade, or a teacher's score
  kLists,          // of every document of a line: grades, or a teacher's scores
  kProbabilities,  // grades in [0, 1], expected under a judge's probabilities
  kMargins         // a teacher's: score minus that of the line's positive, which has score 0
};

// The meaning of the scores for the documents (data/lines/score_meaning.h decides it).
enum class ScoreMeaning {
  kNone,    // there are none
  kLabels,  // all are 0 or 1: Judgement::grade is that label, whatever list the document stands in
  kGrades,  // of documents that nothing else tells apart: how relevant each is
  // Grades of such documents too, but numbers that may be anything: a list's scores, or classes.
  // Somebody has to say from which number on a document is a positive.
  kUndecided,
  kTeacher  // beside positives and negatives, which stand
};

// A number that somebody has to decide about.
struct UndecidedScore {
  int64_t line = 0;  // 0: there is none
  std::string key;
  double score = 0;
  bool is_class = false;        // one of 0, 1 and 2 under a key that says "label"
  bool has_unlabelled = false;  // -1 stands beside the classes
};

// The judgements of one query. A query without any has none of these.
struct JudgedQuery {
  uint32_t query = 0;
  std::vector<Judgement> judgements;  // in file order, each document once
  uint32_t source = 0;                // of several data sets (data/dataset_union.h), from 0
};

// Copies share their texts.
struct Dataset {
  Texts documents;
  Texts queries;
  std::vector<JudgedQuery> judged;  // of the split that was read, in file order of first mention
  std::string file;                 // with the judgements; for messages
  ScoreKind scores = ScoreKind::kNone;
  // The prompt that the lines put before every query; the texts do not include it. Empty: none.
  std::string query_prompt;
  bool has_grades = false;  // else a grade only tells positives (1) from negatives (0) of a line
  ScoreMeaning meaning = ScoreMeaning::kNone;
  UndecidedScore undecided;  // of kUndecided
};

// The judgements of `dataset` by id, as eval/evaluate.h takes them.
Qrels QrelsOf(const Dataset& dataset);

}  // namespace tandem::data
