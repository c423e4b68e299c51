// The false-negative filter: it removes negatives that are not judged but score so high that they
// are likely relevant.
#pragma once

#include <cstdint>
#include <optional>

#include "config/recipe/recipe.h"
#include "objective/objective.h"
#include "tensor/core/tensor.h"

namespace tandem::train {

// The filter removes a negative whose score s is above one of the given bounds. s+ is the score of
// the query's paired document. Scores are those of the current step, without gradient.
//  - score: s > score
//  - absolute_margin: s > s+ - absolute_margin
//  - relative_margin: s > s+ - relative_margin |s+|
// Source: NV-Retriever (Moreira et al. 2024), TopK-Abs, TopK-MarginPos and TopK-PercPos. The paper
// gives TopK-PercPos as a share p of s+; `relative_margin` is 1 - p, which also lowers the bound
// where s+ < 0.
struct FalseNegativeRules {
  std::optional<double> score;
  std::optional<double> absolute_margin;
  std::optional<double> relative_margin;

  bool enabled() const { return score || absolute_margin || relative_margin; }
};

FalseNegativeRules FalseNegativeRulesOf(const config::MaskRecipe& recipe);

// Removes the filtered cells from `labels.negative` (a new tensor: the caller's copies keep them)
// and returns their number. `query_document`, float64 [Q, D], may be on any device, and is copied
// to the host to be compared; the labels are on the host.
int64_t FilterFalseNegatives(const tensor::Tensor& query_document, const FalseNegativeRules& rules,
                             objective::Labels& labels);

}  // namespace tandem::train
