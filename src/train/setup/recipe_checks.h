// Finds errors of a recipe before anything is read. Errors that only model, data or batches show
// are found later: train/setup/run_inputs.h, train/setup/trainer_checks.h.
#pragma once

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

// Throws RecipeError if `validation.measure` or `validation.report` names a measure that
// eval/measure.h does not have, or names one twice.
void CheckMeasures(const config::LoadedRecipe& loaded);

// Throws RecipeError for a score bank that does not fit into memory, for label keys that do not
// suit the objective, and for wrong keys of [mining].
void CheckKeys(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
