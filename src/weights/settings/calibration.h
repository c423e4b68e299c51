// Says how a model's scores become probabilities: what tandem.json says of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::weights {

enum class CalibrationMethod {
  kObjective,  // scale and bias that the training objective learned
  kPlatt,      // scale and bias fitted to judgements
  kIsotonic,   // a step-like map fitted to judgements
};

// Gives the name that tandem.json and flags use: "objective", "platt", "isotonic".
std::string_view CalibrationMethodName(CalibrationMethod method);
std::optional<CalibrationMethod> CalibrationMethodFromName(std::string_view name);

// 1 / (1 + exp(-(scale * score + bias))) as an objective learned it.
struct LearnedScale {
  std::string objective;
  double scale = 1;
  double bias = 0;
};

// Turns a score into the probability that the document is a positive of the query: of isotonic
// linearly between `scores` (eval::IsotonicMap), of the others 1 / (1 + exp(-(scale * score +
// bias))).
struct Calibration {
  std::string objective;  // the one that learned scale and bias; "" where they are fitted
  double scale = 1;
  double bias = 0;
  std::string similarity = "cosine";  // of the scores: "cosine" or "dot"
  CalibrationMethod method = CalibrationMethod::kObjective;
  std::vector<double> scores;         // of isotonic: [P], strictly ascending
  std::vector<double> probabilities;  // of isotonic: [P], never descending
  std::string fitted_on;              // for people: data and counts; "" where it is not fitted
  // The values that the objective learned, if `method` is another one: training continues from
  // them, and `tandem calibrate --method objective` returns to them.
  std::optional<LearnedScale> replaced;

  double Probability(double score) const;
  // Returns the values that the objective learned, whatever the method is; none if it learned
  // nothing.
  std::optional<LearnedScale> Learned() const;
  // Describes it for people: "1 / (1 + exp(-(20 cosine + -9.5))), as objective bixse learned".
  std::string Text() const;
};

}  // namespace tandem::weights
