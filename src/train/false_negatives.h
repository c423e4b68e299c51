// Negatives that score too high to be ones: documents that nobody judged, but that are likely
// relevant.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "config/recipe.h"
#include "objective/objective.h"

namespace tandem::train {

// A cell above any of the bounds that are given is no negative. s+ is the score of the query's own
// document; scores are the model's of this very step, without gradient.
//  - score: s > score
//  - absolute_margin: s > s+ - absolute_margin
//  - relative_margin: s > s+ - relative_margin |s+|
// Source: NV-Retriever (Moreira et al. 2024), TopK-Abs, TopK-MarginPos and TopK-PercPos (there a
// share of s+, here one minus it, which also does what it should below 0).
struct FalseNegativeRules {
  std::optional<double> score;
  std::optional<double> absolute_margin;
  std::optional<double> relative_margin;

  bool enabled() const { return score || absolute_margin || relative_margin; }
};

FalseNegativeRules FalseNegativeRulesOf(const config::MaskRecipe& recipe);

// Takes such cells out of `labels.negative`; returns how many. `query_document` [Q, D].
int64_t FilterFalseNegatives(const at::Tensor& query_document, const FalseNegativeRules& rules,
                             objective::Labels& labels);

}  // namespace tandem::train
