// `tandem train --check-gradient-cache`: the gradient cache against the direct gradient, on the
// run's own first batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "config/recipe_parse.h"
#include "model/dual_encoder.h"

namespace tandem::train {

struct GradientCacheReport {
  double worst = 0;  // relative difference of the gradients
  double bound = 0;  // what rounding may make of it
  std::string text;  // everything that was found, a line each

  bool holds() const { return worst <= bound; }
};

// Where two gradients of the same parameters differ most. The difference of a parameter's gradients
// is the largest of its elements, relative to the largest element of its direct gradient, or to a
// thousandth of the whole gradient's largest where that is more: some gradients, like that of a
// key's bias, are 0 but for rounding. Parameters without a direct gradient do not count; a NaN on
// either side is the worst there is.
struct GradientDifference {
  double relative = 0;
  std::string parameter = "none";
};
GradientDifference LargestDifference(const std::vector<model::NamedParameter>& parameters,
                                     const std::vector<at::Tensor>& direct,
                                     const std::vector<at::Tensor>& cached);

// Runs the first batch with dropout as training does, at once and in chunks of
// `train.chunk_tokens` (a quarter of the batch where that is 0), twice each; the second runs are
// timed. Throws what setting up a run throws.
GradientCacheReport CheckGradientCache(config::LoadedRecipe recipe);

}  // namespace tandem::train
