// Maps from scores to probabilities, and how they are fitted to scores whose documents are judged.
//
//   const std::vector<LabelledScore> labelled = LabelledScoresOf(samples);
//   const LogisticMap platt = FitPlatt(labelled);
//   const double probability = platt(0.41);
#pragma once

#include <span>
#include <vector>

#include "eval/samples/auc.h"

namespace tandem::eval {

struct LabelledScore {
  double score = 0;
  double label = 0;   // 1: a positive, 0: none; between: a share of several with one score
  double weight = 1;  // above 0
};

// 1 / (1 + exp(-x)); 0 and 1 at both ends.
double Logistic(double x);

// 1 / (1 + exp(-(scale * score + bias))).
struct LogisticMap {
  double scale = 1;
  double bias = 0;
  double operator()(double score) const { return Logistic(scale * score + bias); }
};

// Linear between neighbouring scores, and the first or last probability outside of them. `scores`
// [P] ascend strictly, `probabilities` [P] never descend, and P is at least 1.
double InterpolateProbability(std::span<const double> scores, std::span<const double> probabilities,
                              double score);

struct IsotonicMap {
  std::vector<double> scores;         // [P], strictly ascending
  std::vector<double> probabilities;  // [P], never descending
  double operator()(double score) const {
    return InterpolateProbability(scores, probabilities, score);
  }
};

// Positives with label 1 and negatives with label 0, each with weight 1. Missing positives have no
// score and are left out. Documents that nobody judged are among the negatives.
std::vector<LabelledScore> LabelledScoresOf(std::span<const QuerySamples> samples);

// Platt scaling: scale a and bias b of the logistic map that are most likely,
//
//   minimise  sum_i w_i (log(1 + exp(f_i)) - t_i f_i),   f_i = a s_i + b.
//
// The targets are Platt's: t = (N+ + 1) / (N+ + 2) for a positive and 1 / (N- + 2) for a negative,
// N+ and N- being the sums of their weights (a share z gets z t+ + (1 - z) t-). They are what a
// uniform prior makes of so many observations. With plain targets, scores that a threshold
// separates without a mistake would have no most likely map: the scale would grow without end. With
// these the minimum is finite and, unless all scores are equal, the only one; both kinds of target
// differ by less the more documents there are. Where all scores are equal the scale is 0 and the
// bias the logit of the mean target. A scale below 0 says that positives have the lower scores.
//
// Newton's method with a line search, on standardised scores: the objective is convex, so that it
// ends in the minimum, to about 12 digits.
// Source: Platt 1999, "Probabilistic outputs for support vector machines", for targets and start;
// Lin, Lin & Weng 2007, "A note on Platt's probabilistic outputs", for method and stable formulas.
// Throws DataError where all labels are 0 or all are 1, NumericError for a score that is not
// finite.
LogisticMap FitPlatt(std::span<const LabelledScore> labelled);

// Isotonic regression: of all maps that never fall, the one with the least weighted sum of squared
// differences to the labels, by pool-adjacent-violators. Equal scores are one observation, their
// weighted mean. Of each run of scores with one value, the first and the last score are kept, so
// that the map is as flat there as the regression; what is between two runs is interpolated.
// Source: Zadrozny & Elkan 2002, "Transforming classifier scores into accurate multiclass
// probability estimates"; Ayer et al. 1955 for the algorithm. O(n log n).
// Throws as FitPlatt.
IsotonicMap FitIsotonic(std::span<const LabelledScore> labelled);

}  // namespace tandem::eval
