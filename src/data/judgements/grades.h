// Makes the grades and teacher scores that training uses from those that a data set gives
// (docs/training.md, "Labels").
#pragma once

#include <optional>
#include <string>

#include "data/dataset.h"

namespace tandem::data {

// How the scores of lines are used.
enum class ScoreUse { kIgnored, kGrades, kTeacher };

// kGrades: each score becomes its document's grade; beside lists of labels, documents without one
// keep what their list says. Throws DataError naming file, line and id where another document has
// no score, where the whole file has none, and for margins. kTeacher: scores stay as they are.
// kIgnored: they are dropped.
void ApplyScores(Dataset& dataset, ScoreUse use);

// Throws DataError naming the first document without a score where pairs of the file have labels.
void CheckPairsHaveLabels(const Dataset& dataset);

// Decides how commands without an objective use the scores of lines (ScoreMeaning): labels and
// grades become grades; teacher scores stay as they are, and positives and negatives are kept.
// `has_rule`: whether the user said from which grade on a document is positive. Throws DataError if
// numbers need such a rule and there is none, and as ApplyScores does.
void SettleScores(Dataset& dataset, bool has_rule);

// The lowest and the highest grade that a judge gives.
struct GradeScale {
  double minimum = 0;
  double maximum = 1;
};

struct GradeRules {
  std::optional<GradeScale> scale;  // none: grades stay as they are
  // Why grades must be in [0, 1] although no scale is given ("objective bixse needs it"); empty:
  // they may be anything.
  std::string reason;
};

// (grade - minimum) / (maximum - minimum), or `grade` without a scale.
double Scaled(double grade, const std::optional<GradeScale>& scale);

// Maps every grade to [0, 1] by the scale. In a file of judgements, a grade below 0 means "not
// judged" and stays as it is, unless the scale goes below 0. Throws DataError
// naming file, line, query and document for a grade outside the scale, or outside [0, 1] where
// there is a `reason`.
void ScaleGrades(Dataset& dataset, const GradeRules& rules);

}  // namespace tandem::data
