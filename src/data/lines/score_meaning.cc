#include "data/lines/score_meaning.h"

#include <fmt/format.h>

#include <cmath>

#include "data/lines/dataset_builder.h"

namespace tandem::data {
namespace {

// Says whether a file may have both.
bool GoTogether(const LineScores& scores, ScoreKind before, bool open_before) {
  if (scores.kind == before) return true;
  // Margins and scores are a teacher's, and each row is compared with itself alone. Without
  // positives and negatives, scores are grades, which margins are not.
  if (scores.open || open_before) return false;
  return (scores.kind == ScoreKind::kMargins && before == ScoreKind::kLists) ||
         (scores.kind == ScoreKind::kLists && before == ScoreKind::kMargins);
}

}  // namespace

void ScoreTally::BeginLine(const LineReader& reader, const LineScores& scores) {
  if (scores.kind == ScoreKind::kNone) {
    if (first_bare_.line == 0)
      first_bare_ = {.line = reader.line_number(), .key = std::string(scores.key)};
    return;
  }
  if (kind_ != ScoreKind::kNone && !GoTogether(scores, kind_, any_open_)) {
    throw MixedScoreKinds(reader, scores.kind, kind_);
  }
  if (kind_ != ScoreKind::kMargins) kind_ = scores.kind;
  line_kind_ = scores.kind;
  line_ = reader.line_number();
  key_ = scores.key;
  open_ = scores.open;
  any_open_ = any_open_ || scores.open;
  only_labels_ = only_labels_ && scores.kind != ScoreKind::kMargins;
  only_classes_ = only_classes_ && scores.kind == ScoreKind::kPairs && !scores.is_said &&
                  key_.starts_with("label");
}

void ScoreTally::EndFile(const LineReader& reader) const {
  if (first_bare_.line == 0 || !any_open_ || kind_ != ScoreKind::kLists) return;
  throw DataError(reader.file(), first_bare_.line, "",
                  fmt::format("\"{}\" is a list without labels, where other lines say by \"{}\" "
                              "which documents of theirs are positives",
                              first_bare_.key, key_));
}

void ScoreTally::Add(double score) {
  if (std::isnan(score)) return;
  any_ = true;
  if (score == 0 || score == 1) return;
  only_labels_ = false;
  only_classes_ = only_classes_ && (score == 2 || score == -1);
  has_unlabelled_ = has_unlabelled_ || score == -1;
  if (score == 2 && !has_two_) {
    has_two_ = true;
    first_class_ = {.line = line_, .key = key_, .score = score, .is_class = true};
  }
  if (open_ && first_open_.line == 0) first_open_ = {.line = line_, .key = key_, .score = score};
}

bool ScoreTally::IsAgainstList(double score, double grade) const {
  if (open_) return false;
  return (score == 0 && grade > 0) || (score == 1 && grade == 0);
}

UndecidedScore ScoreTally::undecided() const {
  if (!classes()) return first_open_;
  UndecidedScore found = first_class_;
  found.has_unlabelled = has_unlabelled_;
  return found;
}

ScoreMeaning ScoreTally::Meaning() const {
  if (kind_ == ScoreKind::kNone || !any_) return ScoreMeaning::kNone;
  if (only_labels_) return ScoreMeaning::kLabels;
  if (classes()) return ScoreMeaning::kUndecided;
  if (!any_open_) return ScoreMeaning::kTeacher;
  return kind_ == ScoreKind::kLists ? ScoreMeaning::kUndecided : ScoreMeaning::kGrades;
}

DataError NeedsRule(const Dataset& dataset) {
  const UndecidedScore& found = dataset.undecided;
  if (found.is_class) {
    return DataError(
        dataset.file, found.line, "",
        fmt::format("\"{}\" has the classes 0, 1 and 2, which are no grades where they stand for "
                    "words (in NLI data 0 is entailment and 2 contradiction). Say what they are: "
                    "data.labels = [\"0=1\", \"1=0\", \"2=0\"] in a recipe, --labels 0=1,1=0,2=0 "
                    "elsewhere; or, where they are grades, from which one on a document is a "
                    "positive: data.positive_grade in a recipe, --positive-grade elsewhere{}",
                    found.key,
                    found.has_unlabelled ? ". Lines of -1, which NLI data have where the judges "
                                           "did not agree, have no label: take them out"
                                         : ""));
  }
  return DataError(
      dataset.file, found.line, "",
      fmt::format(
          "\"{}\" has {} for a document of a list that may hold positives and negatives; 1 "
          "and 0 would say which it is, other numbers need a rule: in a recipe data.scores "
          "= \"grades\" or \"teacher\" with data.positive_grade, the lowest number of a "
          "positive; elsewhere --positive-grade, which convert takes with --scores grades (score "
          "has no such flag: it takes what convert writes)",
          found.key, found.score));
}

}  // namespace tandem::data
