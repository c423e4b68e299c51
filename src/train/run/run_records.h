// What a run folder keeps of its recipe: as it was given, and with every value resolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/recipe/recipe_parse.h"

namespace tandem::train {

struct ResolvedRecord {
  std::string_view version;             // of Tandem
  std::string_view isa;                 // what the run is computed on
  std::string_view learning_rate_note;  // "": none
};

// recipe.resolved.toml: the recipe with every value. Every path is cut to its last part and
// `output` is left out, so that the same run in another place writes the same bytes.
std::string ResolvedRecipeText(const config::LoadedRecipe& loaded, const ResolvedRecord& record);

// What recipe.resolved.toml says; `name` is the file's. Keys that the version that wrote it did not
// know have the values by which it did what it did, not today's defaults.
config::Recipe ReadResolvedRecipe(std::string_view text, std::string_view name,
                                  config::RecipeCatalogues catalogues);

// recipe.given.toml: the recipe's file as it is, under comments with Tandem's version, each `--set`
// in its order, and `flags` (such as "--seed 7").
std::string GivenRecipeText(const config::LoadedRecipe& loaded, std::string_view version,
                            const std::vector<std::string>& flags);

// The recipe with every path cut to its last part and without `output`.
config::Recipe PortableRecipe(config::Recipe recipe);

// The last part of a path: "all-MiniLM-L6-v2" of "../models/all-MiniLM-L6-v2/". "." and ".." are
// resolved first. "" stays "".
std::string PortablePath(const std::string& path);

}  // namespace tandem::train
