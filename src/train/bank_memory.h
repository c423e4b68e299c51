// Whether the memory holds an objective's score bank.
#pragma once

#include "config/recipe_parse.h"

namespace tandem::train {

// Throws RecipeError for a bank that would take more than half of the memory.
void CheckBankFits(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
