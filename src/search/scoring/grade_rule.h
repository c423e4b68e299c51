// Says how a model's score of a pair becomes a grade in [0, 1].
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/dual_encoder.h"

namespace tandem::search {

struct GradeRule {
  std::string similarity;               // of the scores that it takes: "cosine" or "dot"
  std::function<double(double)> grade;  // of a score
  std::string text;                     // for people: "max(0, cosine)"
};

// Where the model knows how its scores become probabilities (weights/settings/calibration.h), a
// grade is that probability. Otherwise it is max(0, cosine): embeddings of texts that have nothing
// to do with each other have cosines around 0, which is the grade that such a pair should get; (1 +
// cosine) / 2 would call it half relevant. Throws UsageError for a model that compares by dot
// product and has no such probability: its scores have no scale.
GradeRule GradeRuleOf(const model::DualEncoder& model);

// The grade of each score.
std::vector<float> Grades(const GradeRule& rule, std::span<const float> scores);

}  // namespace tandem::search
