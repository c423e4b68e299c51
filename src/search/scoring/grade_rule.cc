#include "search/scoring/grade_rule.h"

#include <algorithm>

#include "base/error.h"

namespace tandem::search {

GradeRule GradeRuleOf(const model::DualEncoder& model) {
  if (const auto& calibration = model.calibration()) {
    return {.similarity = calibration->similarity,
            .grade = [map = *calibration](double score) { return map.Probability(score); },
            .text = calibration->Text()};
  }
  if (model.similarity() != "cosine") {
    throw UsageError(
        "--as grades needs scores with a scale, but the model compares by dot product and has no "
        "probability in a tandem.json: give --as teacher, a model that compares by cosine, or a "
        "cross-encoder");
  }
  return {.similarity = "cosine",
          .grade = [](double score) { return std::clamp(score, 0.0, 1.0); },
          .text = "max(0, cosine)"};
}

std::vector<float> Grades(const GradeRule& rule, std::span<const float> scores) {
  std::vector<float> grades;
  grades.reserve(scores.size());
  for (const float score : scores) grades.push_back(static_cast<float>(rule.grade(score)));
  return grades;
}

}  // namespace tandem::search
