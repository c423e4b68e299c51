// `tandem train --check-gradient-cache`: the gradient cache against the direct gradient, on the
// run's own first batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"

namespace tandem::train {

struct GradientCacheReport {
  double worst = 0;  // relative difference of the gradients
  double bound = 0;  // the largest difference that rounding explains
  std::string text;  // the findings, one line each

  bool holds() const { return worst <= bound; }
};

// Finds the parameter whose two gradients differ most. The measure is the largest absolute
// difference of an element, divided by the largest absolute element of the direct gradient. The
// divisor is at least a thousandth of the largest element of all gradients, because some gradients
// are 0 but for rounding (a key's bias has none: softmax does not see it). Parameters without a
// direct gradient do not count. A NaN on either side is worse than every number.
struct GradientDifference {
  double relative = 0;
  std::string parameter = "none";
};
GradientDifference LargestDifference(const std::vector<model::NamedParameter>& parameters,
                                     const std::vector<at::Tensor>& direct,
                                     const std::vector<at::Tensor>& cached);

// Computes the gradient of the first batch, with dropout as in training, in one pass and in chunks
// of `train.chunk_tokens` (a quarter of the batch where that is 0). It does each twice and times
// the second. Throws what MakeTrainer throws.
GradientCacheReport CheckGradientCache(config::LoadedRecipe recipe);

}  // namespace tandem::train
