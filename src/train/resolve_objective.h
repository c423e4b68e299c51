// What a recipe leaves to the model about its objective.
#pragma once

#include <string>
#include <vector>

#include "config/recipe_parse.h"
#include "model/dual_encoder.h"

namespace tandem::train {

// Writes into the recipe what it does not say, so that the run's record has it:
// - `similarity_kind`: the model's own similarity, except for an objective with a default of its
// own
//   (margin_mse: dot);
// - `scale` and `bias` of a logistic objective (bixse): those of the model's tandem.json, where
// they
//   were learned for the same similarity. Where neither says a bias, the first batch will.
// Returns what a user should know about it, a sentence each. Throws ModelError for a scale or bias
// of tandem.json that a recipe may not have.
std::vector<std::string> ResolveObjective(config::LoadedRecipe& loaded,
                                          const model::DualEncoder& model);

}  // namespace tandem::train
