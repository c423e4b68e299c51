// What is wrong with a recipe can often be said before anything is read. What only model, data or
// batches show is checked with them: train/setup/run_inputs.h, train/setup/trainer_checks.h.
#pragma once

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

// Throws RecipeError where `validation.measure` or `validation.report` names no measure of
// eval/measure.h, or one twice.
void CheckMeasures(const config::LoadedRecipe& loaded);

// Throws RecipeError for a score bank that does not fit into memory, for label keys that the
// objective has no use for, and for keys of [mining] that are at fault.
void CheckKeys(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
