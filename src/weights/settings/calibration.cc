#include "weights/settings/calibration.h"

#include <fmt/format.h>

#include <array>

#include "eval/calibration/calibration.h"

namespace tandem::weights {
namespace {

constexpr std::array<std::string_view, 3> kMethods = {"objective", "platt", "isotonic"};
}  // namespace

std::string_view CalibrationMethodName(CalibrationMethod method) {
  return kMethods[static_cast<size_t>(method)];
}

std::optional<CalibrationMethod> CalibrationMethodFromName(std::string_view name) {
  for (size_t i = 0; i < kMethods.size(); ++i) {
    if (kMethods[i] == name) return static_cast<CalibrationMethod>(i);
  }
  return std::nullopt;
}

double Calibration::Probability(double score) const {
  if (method != CalibrationMethod::kIsotonic) {
    return eval::LogisticMap{.scale = scale, .bias = bias}(score);
  }
  return eval::InterpolateProbability(scores, probabilities, score);
}

std::optional<LearnedScale> Calibration::Learned() const {
  if (method != CalibrationMethod::kObjective) return replaced;
  return LearnedScale{.objective = objective, .scale = scale, .bias = bias};
}

std::string Calibration::Text() const {
  const std::string fitted = fitted_on.empty() ? "to judgements" : fmt::format("to {}", fitted_on);
  if (method == CalibrationMethod::kIsotonic) {
    return fmt::format("isotonic regression of {}, {} points, fitted {}", similarity, scores.size(),
                       fitted);
  }
  return fmt::format(
      "1 / (1 + exp(-({:.6g} {} + {:.6g}))), {}", scale, similarity, bias,
      method == CalibrationMethod::kObjective
          ? fmt::format("as {} learned", objective.empty() ? "training" : "objective " + objective)
          : fmt::format("fitted {}", fitted));
}

}  // namespace tandem::weights
