#include "eval/calibration/calibration.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/error.h"
#include "eval/calibration/labelled_sums.h"

namespace tandem::eval {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

double InterpolateProbability(std::span<const double> scores, std::span<const double> probabilities,
                              double score) {
  const auto above = std::upper_bound(scores.begin(), scores.end(), score);
  if (above == scores.begin()) return probabilities.front();
  if (above == scores.end()) return probabilities.back();
  const auto i = static_cast<size_t>(above - scores.begin());
  const double share = (score - scores[i - 1]) / (scores[i] - scores[i - 1]);
  // Rounding must not leave the neighbours' range: the map never falls.
  const double between = (1 - share) * probabilities[i - 1] + share * probabilities[i];
  return std::clamp(between, probabilities[i - 1], probabilities[i]);
}

std::vector<LabelledScore> LabelledScoresOf(std::span<const QuerySamples> samples) {
  std::vector<LabelledScore> labelled;
  for (const QuerySamples& query : samples) {
    for (const double score : query.positives) labelled.push_back({.score = score, .label = 1});
    for (const double score : query.negatives) labelled.push_back({.score = score, .label = 0});
  }
  return labelled;
}

LabelledSums SumLabels(std::span<const LabelledScore> labelled) {
  LabelledSums sums;
  for (const LabelledScore& one : labelled) {
    if (!std::isfinite(one.score)) throw NumericError("calibration: a score is not finite");
    if (!(one.label >= 0 && one.label <= 1 && one.weight > 0 && std::isfinite(one.weight))) {
      throw std::logic_error("calibration: a label outside [0, 1] or a weight that is not above 0");
    }
    sums.positives += one.weight * one.label;
    sums.negatives += one.weight * (1 - one.label);
  }
  if (sums.positives > 0 && sums.negatives > 0) return sums;
  throw DataError("calibration", 0, "",
                  sums.positives > 0
                      ? "all documents with a score are positives, so that nothing says how "
                        "probable a lower score is; it needs documents that are no positives: a "
                        "larger corpus, or a higher --relevance-level"
                      : "no positive has a score, so that nothing says how probable one is; it "
                        "needs judged positives that the corpus has: another --split, or a lower "
                        "--relevance-level");
}

}  // namespace tandem::eval
