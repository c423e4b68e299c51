// Checks before a run that its score bank fits into memory.
#pragma once

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

// Throws RecipeError for a bank that would take more than half of the memory.
void CheckBankFits(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
