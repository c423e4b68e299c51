// Reads the recipe files of a run folder (train/run/run_records.h writes them).
#pragma once

#include <string_view>

#include "config/recipe/recipe_parse.h"

namespace tandem::config {

// Reads the text of recipe.resolved.toml; `name` is the file's name. Keys that the version that
// wrote it did not know get values that describe what that version did, not today's defaults.
// Throws RecipeError.
Recipe ReadResolvedRecipe(std::string_view text, std::string_view name,
                          RecipeCatalogues catalogues);

// Reads the text of recipe.given.toml, with the settings of the command line that its comments
// name. It has paths as they were given: relative ones to the folder in which training began.
// Throws RecipeError.
Recipe ReadGivenRecipe(std::string_view text, std::string_view name, RecipeCatalogues catalogues);

}  // namespace tandem::config
