// Completes the objective of a recipe with values of the model.
#pragma once

#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"

namespace tandem::train {

// Writes the following values into the recipe where it does not give them, so that the run's record
// includes them:
// - `similarity_kind`: the model's own similarity, except for an objective with its own default
//   (margin_mse: dot);
// - `scale` and `bias` of a logistic objective (bixse): those of the model's tandem.json, if
//   they were learned for the same similarity. Where neither gives a bias, the run's first batch
//   decides it.
// Returns notes for the user, a sentence each. Throws ModelError for a scale or bias of tandem.json
// that is outside the range of the recipe's key; RecipeError for a bound of [data.masks] that no
// score is above.
std::vector<std::string> ResolveObjective(config::LoadedRecipe& loaded,
                                          const model::DualEncoder& model);

}  // namespace tandem::train
