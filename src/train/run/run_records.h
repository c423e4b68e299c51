// Writes the recipe files of a run folder: the recipe as it was given, and with every value
// resolved. config/recipe/recorded_recipes.h reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

struct ResolvedRecord {
  std::string_view version;             // Tandem's version
  std::string_view isa;                 // instruction sets that the run uses
  std::string_view learning_rate_note;  // "": no note
};

// Returns the text of recipe.resolved.toml: the recipe with every value. Every path is cut to its
// last part and `output` is left out, so that the same run in another place writes the same bytes.
std::string ResolvedRecipeText(const config::LoadedRecipe& loaded, const ResolvedRecord& record);

// Returns the text of recipe.given.toml: the recipe's file as it is, after comments with Tandem's
// version, each `--set` in its order, and `flags` (such as "--seed 7").
std::string GivenRecipeText(const config::LoadedRecipe& loaded, std::string_view version,
                            const std::vector<std::string>& flags);

// Returns the recipe with every path cut to its last part and without `output`.
config::Recipe PortableRecipe(config::Recipe recipe);

// Returns the last part of a path: "all-MiniLM-L6-v2" for "../models/all-MiniLM-L6-v2/". "." and
// ".." are resolved first. "" stays "".
std::string PortablePath(const std::string& path);

}  // namespace tandem::train
