// The judged queries of a data set as formats of training lines take them: positives and negatives,
// with scores where the data set has any. Internal to the writers of these formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/formats/dataset_writer.h"

namespace tandem::data {

// A document of an example, with its score where the line says one: a teacher's, or the grade.
struct ExampleDocument {
  uint32_t document = 0;
  double score = kNoScore;
};

// The content of the lines of one query.
struct LineExample {
  uint32_t query = 0;
  std::vector<ExampleDocument> positives;  // in the order of the judgements
  std::vector<ExampleDocument> negatives;
  size_t unjudged = 0;  // left out: grade below 0 in a file of judgements
  size_t between = 0;   // left out: grade above 0, but below WriteOptions::positive_grade
  size_t empty = 0;     // left out: negatives without text, which readers of lines leave out

  size_t size() const { return positives.size() + negatives.size(); }
  // Says whether every document has a score.
  bool has_all_scores() const;
};

class LineExamples {
 public:
  // Both must outlive this object.
  LineExamples(const Dataset& dataset, const WriteOptions& options);

  const Dataset& dataset() const { return dataset_; }
  // The form of the scores in the examples; grades that are written as scores are kLists. kNone:
  // there are none.
  ScoreKind scores() const { return scores_; }
  // Says whether those scores are grades, of which 0 and 1 do not say everything.
  bool has_grades() const { return has_grades_; }
  // Says whether every document has the score of its pair, so that a line can hold one pair.
  bool are_scored_pairs() const { return are_scored_pairs_; }

  // Replaces `example` by that of a judged query. It may have no positive.
  void Make(const JudgedQuery& judged, LineExample& example) const;

  // Calls `body(example)` for every judged query that has a positive.
  template <typename Body>
  void ForEach(const Body& body) const {
    LineExample example;
    for (const JudgedQuery& judged : dataset_.judged) {
      Make(judged, example);
      if (!example.positives.empty()) body(example);
    }
  }

 private:
  bool IsUnjudged(const Judgement& judgement) const;
  bool HasOtherGrades() const;

  const Dataset& dataset_;
  std::optional<double> positive_grade_;
  bool has_grades_ = false;
  bool are_scored_pairs_ = false;
  ScoreKind scores_ = ScoreKind::kNone;
};

// How a format of lines represents a data set.
struct LineFormat {
  bool needs_positive = true;  // a query without a positive has no line
  bool has_ids = false;
  bool has_titles = false;
  bool has_prompt = false;
  // Negatives of every line: queries with fewer have none, and with 0 all negatives are left out.
  // Nothing: a line has all of its query's.
  std::optional<size_t> negatives;
};

// Counts what `request` writes, and in its warnings what a format like this leaves out. Throws
// DataError where nothing is left to write.
WriteCounts CountLines(const LineExamples& examples, const LineFormat& format,
                       const WriteRequest& request);

// Counts the positives that are graded below 1: lists of positives and negatives make positives of
// them wherever their scores are not taken for grades.
void CountGradesBelow1(const LineExamples& examples, const LineExample& example,
                       const WriteRequest& request);

// Throws UsageError where rows of one query stand apart, since their margins cannot be compared,
// and lines of `format` would make one query of them.
void CheckNoneApart(const LineExamples& examples, std::string_view format);

// Appends the text of a document or query as a JSON string.
void AppendText(std::string& out, const Texts& texts, uint32_t index);
// Appends `[0.1,0.9]`, from which readers compute this expected grade again.
void AppendProbabilities(std::string& out, double expected_grade);

}  // namespace tandem::data
