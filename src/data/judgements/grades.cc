#include "data/judgements/grades.h"

#include <fmt/format.h>

#include "base/error.h"
#include "data/lines/score_meaning.h"

namespace tandem::data {
namespace {

// Calls `body(query, judgement)` for every judgement.
template <typename Body>
void ForEach(Dataset& dataset, const Body& body) {
  for (JudgedQuery& query : dataset.judged) {
    for (Judgement& judgement : query.judgements) body(query.query, judgement);
  }
}

DataError WithoutScore(const Dataset& dataset, const Judgement& judgement) {
  return DataError(dataset.file, judgement.line, dataset.documents.id(judgement.document),
                   "has no score, where other documents of the file have a grade by theirs");
}

void UseScoresAsGrades(Dataset& dataset) {
  if (dataset.scores == ScoreKind::kNone) {
    throw DataError(dataset.file, 0, "", "has no scores that could be grades");
  }
  if (dataset.scores == ScoreKind::kMargins) {
    throw DataError(dataset.file, 0, "",
                    "has margins between documents, which are no grades; they serve as a "
                    "teacher's scores only");
  }
  const bool lists_of_labels =
      dataset.meaning == ScoreMeaning::kLabels && dataset.scores == ScoreKind::kLists;
  ForEach(dataset, [&](uint32_t, Judgement& judgement) {
    if (!judgement.has_score()) {
      if (lists_of_labels) return;
      throw WithoutScore(dataset, judgement);
    }
    judgement.grade = judgement.score;
    judgement.score = kNoScore;
  });
  dataset.has_grades = true;
}

[[noreturn]] void ThrowOutside(const Dataset& dataset, uint32_t query, const Judgement& judgement,
                               const GradeRules& rules) {
  const std::string which =
      fmt::format("query {}, document {}: grade {}", dataset.queries.id(query),
                  dataset.documents.id(judgement.document), judgement.grade);
  throw DataError(
      dataset.file, judgement.line, "",
      rules.scale
          ? fmt::format("{} is outside data.grade_scale = [{}, {}]", which, rules.scale->minimum,
                        rules.scale->maximum)
          : fmt::format("{} is outside [0, 1], which {}; give data.grade_scale = [lowest, highest]",
                        which, rules.reason));
}

}  // namespace

void ApplyScores(Dataset& dataset, ScoreUse use) {
  switch (use) {
    case ScoreUse::kGrades:
      return UseScoresAsGrades(dataset);
    case ScoreUse::kIgnored:
      return ForEach(dataset, [](uint32_t, Judgement& judgement) { judgement.score = kNoScore; });
    case ScoreUse::kTeacher:
      return;
  }
}

void CheckPairsHaveLabels(const Dataset& dataset) {
  if (dataset.scores != ScoreKind::kPairs || dataset.meaning != ScoreMeaning::kLabels) return;
  for (const JudgedQuery& query : dataset.judged) {
    for (const Judgement& judgement : query.judgements) {
      if (!judgement.has_score()) throw WithoutScore(dataset, judgement);
    }
  }
}

void SettleScores(Dataset& dataset, bool has_rule) {
  switch (dataset.meaning) {
    case ScoreMeaning::kUndecided:
      if (!has_rule) throw NeedsRule(dataset);
      return ApplyScores(dataset, ScoreUse::kGrades);
    case ScoreMeaning::kGrades:
      return ApplyScores(dataset, ScoreUse::kGrades);
    case ScoreMeaning::kLabels:  // of lists they are the grades already
      if (dataset.scores == ScoreKind::kPairs) ApplyScores(dataset, ScoreUse::kGrades);
      return;
    case ScoreMeaning::kTeacher:
    case ScoreMeaning::kNone:
      return;
  }
}

double Scaled(double grade, const std::optional<GradeScale>& scale) {
  return scale ? (grade - scale->minimum) / (scale->maximum - scale->minimum) : grade;
}

void ScaleGrades(Dataset& dataset, const GradeRules& rules) {
  const GradeScale scale = rules.scale.value_or(GradeScale());
  const bool judged_file = dataset.scores == ScoreKind::kNone;
  const bool bounded = rules.scale.has_value() || !rules.reason.empty();
  ForEach(dataset, [&](uint32_t query, Judgement& judgement) {
    if (judged_file && judgement.grade < 0 && scale.minimum >= 0) return;  // not judged
    const bool inside = judgement.grade >= scale.minimum && judgement.grade <= scale.maximum;
    if (bounded && !inside) ThrowOutside(dataset, query, judgement, rules);
    judgement.grade = Scaled(judgement.grade, rules.scale);
  });
}

}  // namespace tandem::data
