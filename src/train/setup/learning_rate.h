// The learning rate of a run where the recipe gives it for another batch.
#pragma once

#include <string>

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

// Does what `optimizer.learning_rate_scaling` asks: sets the recipe's rate to the run's own and the
// scaling to "none", so that the recipe says what is run. A step of accumulated batches has all
// their queries: its gradient is their mean. Returns one line on what was done, "" for nothing;
// throws RecipeError where the rate leaves its range.
std::string ResolveLearningRate(config::LoadedRecipe& loaded);

}  // namespace tandem::train
