#include "search/grade_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::search {

double Logistic(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

GradeRule GradeRuleOf(const model::DualEncoder& model) {
  if (const auto& calibration = model.calibration()) {
    const double scale = calibration->scale, bias = calibration->bias;
    return {.similarity = calibration->similarity,
            .grade = [=](double score) { return Logistic(scale * score + bias); },
            .text = fmt::format("1 / (1 + exp(-({:.6g} {} + {:.6g}))), as objective {} learned",
                                scale, calibration->similarity, bias, calibration->objective)};
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
