// `tandem train --check-gradient-cache`: compares the gradient computed with the gradient cache to
// the direct gradient, on the first batch of the run.
#pragma once

#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"
#include "tensor/core/tensor.h"

namespace tandem::train {

struct GradientCacheReport {
  double worst = 0;  // largest relative difference of the gradients
  double bound = 0;  // largest difference that rounding explains
  std::string text;  // the findings, one line each

  bool holds() const { return worst <= bound; }
};

// Finds the parameter whose two gradients differ most. The measure is the largest absolute
// difference of an element, divided by the largest absolute element of the direct gradient. The
// divisor is at least a thousandth of the largest element of all gradients, because some gradients
// are 0 up to rounding (for example, the bias of attention keys does not change the softmax).
// Parameters without a direct gradient do not count. A NaN on either side is worse than every
// number. Gradients are float32 on the host.
struct GradientDifference {
  double relative = 0;
  std::string parameter = "none";
};
GradientDifference LargestDifference(const std::vector<model::NamedParameter>& parameters,
                                     const std::vector<tensor::Tensor>& direct,
                                     const std::vector<tensor::Tensor>& cached);

// Computes the gradient of the first batch, with dropout as in training, once directly and once in
// chunks of `train.chunk_tokens` (a quarter of the batch's tokens if that is 0). Computes each one
// twice and times the second computation. Throws what MakeTrainer throws.
GradientCacheReport CheckGradientCache(config::LoadedRecipe recipe);

}  // namespace tandem::train
