// Platt scaling: eval/calibration/calibration.h says what is minimised.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "eval/calibration/calibration.h"
#include "eval/calibration/labelled_sums.h"

namespace tandem::eval {
namespace {

// Newton's method takes five to ten steps on real scores; separable ones take up to thirty.
constexpr int kMostNewtonSteps = 200;
// The objective can fall by about half of Newton's decrement. Where that is below its own rounding,
// one last step, whose error is the square of the one before, ends the search.
constexpr double kSmallDecrement = 1e-12;
// The share of the linear prediction by which a step must lower the objective (Armijo's rule), as
// Lin, Lin & Weng set it.
constexpr double kSufficientDecrease = 1e-4;
constexpr double kShortestStep = 1e-10;
// Added to the Hessian's diagonal, relative to it, so that it can be inverted where rounding has
// made it singular. It changes steps, not where they end.
constexpr double kRidge = 1e-12;

struct Point {
  double scale, bias;
};

// The objective at a point, with its derivatives.
struct Local {
  double value = 0;
  Point gradient{};
  double scale_scale = 0, scale_bias = 0, bias_bias = 0;  // Hessian
};

// log(1 + exp(f)), without overflow.
double Softplus(double f) { return std::max(f, 0.0) + std::log1p(std::exp(-std::abs(f))); }

class PlattObjective {
 public:
  PlattObjective(std::span<const LabelledScore> labelled, const LabelledSums& sums)
      : labelled_(labelled),
        positive_target_((sums.positives + 1) / (sums.positives + 2)),
        negative_target_(1 / (sums.negatives + 2)) {
    const double weight = sums.positives + sums.negatives;
    for (const LabelledScore& one : labelled) mean_ += one.weight / weight * one.score;
    double variance = 0;
    for (const LabelledScore& one : labelled) {
      const double difference = one.score - mean_;
      variance += one.weight / weight * difference * difference;
    }
    deviation_ = std::sqrt(variance);
    if (!std::isfinite(deviation_)) throw NumericError("calibration: scores are too large");
  }

  // Says whether scores tell documents apart at all. Equal ones may leave rounding in their mean.
  bool HasDifferentScores() const {
    const double first = labelled_.front().score;
    return deviation_ > 0 &&
           std::any_of(labelled_.begin(), labelled_.end(),
                       [first](const LabelledScore& one) { return one.score != first; });
  }

  double Value(Point at) const {
    double value = 0;
    for (const LabelledScore& one : labelled_) {
      const double f = at.scale * Standard(one) + at.bias;
      value += one.weight * (Softplus(f) - Target(one) * f);
    }
    return value;
  }

  Local At(Point at) const {
    Local local{.value = Value(at)};
    for (const LabelledScore& one : labelled_) {
      const double z = Standard(one);
      const double p = Logistic(at.scale * z + at.bias);
      const double slope = one.weight * (p - Target(one));
      const double curvature = one.weight * p * (1 - p);
      local.gradient.scale += slope * z;
      local.gradient.bias += slope;
      local.scale_scale += curvature * z * z;
      local.scale_bias += curvature * z;
      local.bias_bias += curvature;
    }
    return local;
  }

  double MeanTarget() const {
    double sum = 0, weight = 0;
    for (const LabelledScore& one : labelled_) {
      sum += one.weight * Target(one);
      weight += one.weight;
    }
    return sum / weight;
  }

  // The map of scores that `at` is of standardised scores.
  LogisticMap MapOf(Point at) const {
    const double scale = at.scale / deviation_;
    return {.scale = scale, .bias = at.bias - scale * mean_};
  }

 private:
  double Standard(const LabelledScore& one) const { return (one.score - mean_) / deviation_; }
  double Target(const LabelledScore& one) const {
    return one.label * positive_target_ + (1 - one.label) * negative_target_;
  }

  std::span<const LabelledScore> labelled_;
  double positive_target_;
  double negative_target_;
  double mean_ = 0;
  double deviation_ = 0;
};

Point NewtonStep(const Local& local) {
  const double ridge = kRidge * (local.scale_scale + local.bias_bias);
  const double a = local.scale_scale + ridge, c = local.bias_bias + ridge, b = local.scale_bias;
  const double determinant = a * c - b * b;
  return {.scale = -(c * local.gradient.scale - b * local.gradient.bias) / determinant,
          .bias = -(a * local.gradient.bias - b * local.gradient.scale) / determinant};
}

Point Along(Point from, Point step, double length) {
  return {from.scale + length * step.scale, from.bias + length * step.bias};
}

}  // namespace

LogisticMap FitPlatt(std::span<const LabelledScore> labelled) {
  const LabelledSums sums = SumLabels(labelled);
  const PlattObjective objective(labelled, sums);
  if (!objective.HasDifferentScores()) {
    const double target = objective.MeanTarget();
    return {.scale = 0, .bias = std::log(target / (1 - target))};
  }
  Point at{0, std::log((sums.positives + 1) / (sums.negatives + 1))};
  for (int i = 0; i < kMostNewtonSteps; ++i) {
    const Local local = objective.At(at);
    const Point step = NewtonStep(local);
    const double decrement = -(local.gradient.scale * step.scale + local.gradient.bias * step.bias);
    if (!std::isfinite(decrement)) break;
    if (decrement <= kSmallDecrement * local.value) return objective.MapOf(Along(at, step, 1));
    double length = 1;
    while (objective.Value(Along(at, step, length)) >
           local.value - kSufficientDecrease * length * decrement) {
      length /= 2;
      if (length < kShortestStep) throw NumericError("calibration: Platt's line search failed");
    }
    at = Along(at, step, length);
  }
  throw NumericError("calibration: Platt scaling did not converge");
}

}  // namespace tandem::eval
