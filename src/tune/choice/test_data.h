// Refuses test data that the search looks at before the end.
#pragma once

#include "config/tune/tune_recipe.h"
#include "train/inputs/run_data.h"

namespace tandem::tune {

// Throws RecipeError where the queries of tune.test are those of validation or training: the same
// judgements of the same folder, or half of its query texts or more. Warns of fewer. `data` is what
// the recipe trains and validates on. Throws as data::LoadJudgedData does.
void CheckTestData(const config::LoadedTune& tune, const train::RunData& data);

}  // namespace tandem::tune
