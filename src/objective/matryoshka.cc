#include "objective/matryoshka.h"

#include <algorithm>
#include <utility>

#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"

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

std::vector<WeighedScores> ScoresAtWidths(const tensor::Tensor& queries,
                                          const tensor::Tensor& documents, const Labels& labels,
                                          std::string_view kind, const Needs& needs,
                                          std::span<const Width> widths, const WholeBatch& whole) {
  std::vector<WeighedScores> all;
  const auto add = [&](const Width& width) {
    const auto cut = [&width](const tensor::Tensor& rows) {
      return !rows.defined() || rows.size(1) == width.numbers
                 ? rows
                 : tensor::Columns(rows, 0, width.numbers);
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
  if (widths.front().weight != 1) sum.value = tensor::Mul(sum.value, widths.front().weight);
  const States without_bank{.scale = states.scale, .bias = states.bias};
  for (const WeighedScores& width : widths.subspan(1)) {
    const Loss loss = objective.Evaluate(width.scores, labels, without_bank);
    sum.value = tensor::Add(sum.value, tensor::Mul(loss.value, width.weight));
  }
  return sum;
}

}  // namespace tandem::objective
