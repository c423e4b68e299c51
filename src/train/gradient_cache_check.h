// `tandem train --check-gradient-cache`: the gradient cache against the direct gradient, on the
// run's own first batch.
#pragma once

#include <string>

#include "config/recipe_parse.h"

namespace tandem::train {

struct GradientCacheReport {
  double worst = 0;  // relative difference of the gradients
  double bound = 0;  // what rounding may make of it
  std::string text;  // everything that was found, a line each

  bool holds() const { return worst <= bound; }
};

// Runs the first batch with dropout as training does, at once and in chunks of
// `train.chunk_tokens` (a quarter of the batch where that is 0), twice each; the second runs are
// timed. The difference of a parameter's gradients is the largest of its elements, relative to the
// largest element of its direct gradient, or to a thousandth of the whole gradient's largest where
// that is more: some gradients, like that of a key's bias, are 0 but for rounding. Throws what
// setting up a run throws.
GradientCacheReport CheckGradientCache(config::LoadedRecipe recipe);

}  // namespace tandem::train
