// Decides what the scores of a file's lines mean for its documents, for all formats and all
// commands.
//
// A line gives a document two things: the place where it stands (a list of positives, a negative
// column, or a list that does not say which it is), and perhaps a number. The numbers of the whole
// file decide together, since one line alone does not show what they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/dataset.h"
#include "data/input/line_reader.h"

namespace tandem::data {

// The scores of one line.
struct LineScores {
  ScoreKind kind = ScoreKind::kNone;
  std::string_view key;  // where they stand
  // Nothing but the numbers says which of the documents are positives: those of one pair, and of a
  // list without negatives beside it.
  bool open = false;
  bool is_said = false;  // the user has said which number a label stands for (LineRules::labels)
};

class ScoreTally {
 public:
  // The scores of the documents that follow. Throws DataError where earlier lines had scores that
  // cannot be compared with these.
  void BeginLine(const LineReader& reader, const LineScores& scores);
  // The lines have ended. Throws DataError for a list without labels where others have them:
  // nothing says which of its documents are positives.
  void EndFile(const LineReader& reader) const;
  // The score of a document of that line; not a number: it has none.
  void Add(double score);

  // The kind of all lines so far. Lists beside margins count as margins: both are a teacher's.
  ScoreKind kind() const { return kind_; }
  // Says whether a document of that line with this score and this grade, which its list gives it,
  // would be in the wrong list if the score is a label.
  bool IsAgainstList(double score, double grade) const;
  // Says whether all scores so far could be labels.
  bool only_labels() const { return only_labels_; }
  ScoreMeaning Meaning() const;
  // The score for which the meaning is kUndecided.
  UndecidedScore undecided() const;

 private:
  bool classes() const { return only_classes_ && has_two_; }

  ScoreKind kind_ = ScoreKind::kNone;
  ScoreKind line_kind_ = ScoreKind::kNone;
  int64_t line_ = 0;
  std::string key_;
  bool open_ = false;
  bool any_ = false;
  bool any_open_ = false;
  bool only_labels_ = true;
  bool only_classes_ = true;  // every one is -1, 0, 1 or 2, of a pair, called a label, and
                              // nobody has said what it stands for
  bool has_two_ = false;
  bool has_unlabelled_ = false;  // -1
  UndecidedScore first_open_;    // of an open list, other than 0 and 1
  UndecidedScore first_class_;   // the first 2
  UndecidedScore first_bare_;    // list without scores
};

// The name in a warning for documents with IsAgainstList.
inline constexpr std::string_view kAgainstLists =
    "documents labelled 0 in a list of positives, or 1 in one of negatives, taken by their label";

// The error for numbers that need a rule, with the ways to give one; to be thrown.
DataError NeedsRule(const Dataset& dataset);

}  // namespace tandem::data
