// Computes the learning rate of a run if the recipe gives it for another batch size.
#pragma once

#include <string>

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

// Applies `optimizer.learning_rate_scaling`: sets the recipe's learning rate to the run's own and
// the scaling to "none", so that the recipe says what is run. A step of accumulated batches counts
// all their queries, because its gradient is their mean. Returns one line on what was done, or ""
// if nothing; throws RecipeError if the scaled rate is out of range.
std::string ResolveLearningRate(config::LoadedRecipe& loaded);

}  // namespace tandem::train
