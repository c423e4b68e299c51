// A recipe as a list of fields: written out, compared and documented.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"
#include "config/recipe.h"
#include "config/recipe_fields.h"
#include "config/recipe_parse.h"

namespace tandem::config {

// One key with its current value.
struct RecipeKey {
  std::string_view table;  // "" at the top
  std::string_view table_doc;
  ParamInfo info;  // without default: `value` of a default recipe is the default
  Value value;
  bool required = false;
  OnResume on_resume = OnResume::kMustStay;

  std::string path() const;  // "train.batch"
};

// All keys in the order of the file; an entry's parameters follow its name.
std::vector<RecipeKey> RecipeKeys(const Recipe& recipe);

// The recipe as TOML with every value spelled out; parsing it gives the same recipe.
std::string FormatRecipe(const Recipe& recipe);

// Keys that differ between two recipes and that a resumed run may not change.
std::vector<std::string> ChangedKeys(const Recipe& before, const Recipe& after);

// The reference page of all keys in Markdown (docs/recipes.md).
std::string RecipeReference(const RecipeCatalogues& catalogues);

// Parameters as a Markdown table.
std::string ParamTable(std::span<const ParamInfo> params);

}  // namespace tandem::config
