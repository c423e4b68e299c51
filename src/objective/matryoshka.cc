#include "objective/matryoshka.h"

#include <algorithm>
#include <utility>

namespace tandem::objective {

std::vector<Width> WidthsOf(std::span<const int64_t> numbers, std::span<const double> weights) {
  std::vector<Width> widths;
  for (size_t i = 0; i < numbers.size(); ++i) {
    widths.push_back({numbers[i], weights.empty() ? 1 : weights[i]});
  }
  std::sort(widths.begin(), widths.end(),
            [](const Width& a, const Width& b) { return a.numbers > b.numbers; });
  return widths;
}

std::vector<WeighedScores> ScoresAtWidths(const at::Tensor& queries, const at::Tensor& documents,
                                          const Labels& labels, std::string_view kind,
                                          const Needs& needs, std::span<const Width> widths,
                                          const WholeBatch& whole) {
  std::vector<WeighedScores> all;
  const auto add = [&](const Width& width) {
    const auto cut = [&width](const at::Tensor& rows) {
      return rows.defined() ? rows.narrow(1, 0, width.numbers) : rows;
    };
    all.push_back({SimilarityScores(cut(queries), cut(documents), labels.positive, kind, needs,
                                    {cut(whole.queries), whole.positive}),
                   width.weight});
  };
  if (widths.empty()) add({.numbers = queries.size(1)});
  for (const Width& width : widths) add(width);
  return all;
}

Loss EvaluateWidths(const Objective& objective, std::span<const WeighedScores> widths,
                    const Labels& labels, const States& states) {
  Loss sum = objective.Evaluate(widths.front().scores, labels, states);
  // Multiplied only where it changes something: one width keeps its rounding.
  if (widths.front().weight != 1) sum.value = sum.value.mul(widths.front().weight);
  const States without_bank{.scale = states.scale, .bias = states.bias};
  for (const WeighedScores& width : widths.subspan(1)) {
    const Loss loss = objective.Evaluate(width.scores, labels, without_bank);
    sum.value = sum.value.add(loss.value.mul(width.weight));
  }
  return sum;
}

}  // namespace tandem::objective
