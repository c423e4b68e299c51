#include "train/step/false_negatives.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/minimum.h>

namespace tandem::train {

FalseNegativeRules FalseNegativeRulesOf(const config::MaskRecipe& recipe) {
  return {.score = recipe.false_negative_score,
          .absolute_margin = recipe.false_negative_absolute_margin,
          .relative_margin = recipe.false_negative_relative_margin};
}

int64_t FilterFalseNegatives(const at::Tensor& query_document, const FalseNegativeRules& rules,
                             objective::Labels& labels) {
  if (!rules.enabled()) return 0;
  const at::Tensor scores = query_document.detach();
  const at::Tensor own = scores.gather(1, labels.positive.unsqueeze(1));  // [Q, 1]
  at::Tensor bound = at::full_like(own, rules.score.value_or(INFINITY));
  if (rules.absolute_margin) bound = at::minimum(bound, own.sub(*rules.absolute_margin));
  if (rules.relative_margin)
    bound = at::minimum(bound, own.sub(own.abs().mul(*rules.relative_margin)));
  const at::Tensor too_high = scores.gt(bound).logical_and_(labels.negative);
  labels.negative = labels.negative.logical_xor(too_high);
  return too_high.sum().item<int64_t>();
}

}  // namespace tandem::train
