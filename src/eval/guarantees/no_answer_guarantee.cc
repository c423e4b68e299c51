#include "eval/guarantees/no_answer_guarantee.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "eval/samples/auc.h"

namespace tandem::eval {

std::optional<double> ChooseNoAnswerThreshold(std::vector<double> best_scores, double risk) {
  RefuseNan(best_scores);
  // risk * (n + 1) that is whole but for its rounding must not lose one.
  constexpr double kCountRounding = 1e-9;
  const size_t all = best_scores.size() + 1;
  const auto above =
      static_cast<size_t>(std::floor(risk * static_cast<double>(all) + kCountRounding));
  if (above == 0 || above > best_scores.size()) return std::nullopt;
  std::sort(best_scores.begin(), best_scores.end());
  const double score = best_scores[all - above - 1];
  auto threshold = static_cast<float>(score);  // of a score of another program perhaps rounded down
  while (threshold <= score) {
    threshold = std::nextafter(threshold, std::numeric_limits<float>::infinity());
  }
  return threshold;
}

}  // namespace tandem::eval
