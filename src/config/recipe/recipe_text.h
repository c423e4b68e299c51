// A recipe as a list of fields: written out, compared and documented.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"
#include "config/recipe/recipe.h"
#include "config/recipe/recipe_fields.h"
#include "config/recipe/recipe_parse.h"

namespace tandem::config {

// One key with its current value.
struct RecipeKey {
  std::string table;  // "" at the top; "data.source.2" in the second table of a list
  std::string_view table_doc;
  ParamInfo info;  // without default: `value` of a default recipe is the default
  Value value;
  bool required = false;
  OnResume on_resume = OnResume::kMustStay;
  bool names_entry = false;    // its value names an entry of the table's catalogue
  std::string_view condition;  // when it does something, after "needs"; "" where always
  // The reason why it does nothing in this recipe, after "does nothing here: "; "" otherwise.
  std::string idle = {};

  std::string list = {};  // "data.source" in a table of a list

  std::string path() const;    // "train.batch"
  std::string header() const;  // "[train]", "[[data.source]]"; "" at the top
};

// All keys in the order of the file; an entry's parameters follow its name. Without `catalogues`
// nobody knows what an entry says of other tables' keys.
std::vector<RecipeKey> RecipeKeys(const Recipe& recipe, RecipeCatalogues catalogues = {});

// Every key that a recipe can have, with its default. A list has one table, whose keys have no
// number: "data.source.path".
std::vector<RecipeKey> DocumentedKeys();

// The recipe as TOML with every value spelled out, except for keys that do nothing in `judged`:
// parsing it gives a recipe that trains the same. `judged` is the recipe as it is run; `recipe` may
// differ from it in what is to be written (shortened paths).
std::string FormatRecipe(const Recipe& recipe, const Recipe& judged, RecipeCatalogues catalogues);
std::string FormatRecipe(const Recipe& recipe, RecipeCatalogues catalogues);

// Keys that differ between two recipes and that a resumed run may not change. A key that does
// nothing in `after` is left out.
std::vector<std::string> ChangedKeys(const Recipe& before, const Recipe& after,
                                     RecipeCatalogues catalogues);

// Returns the facts about a parameter besides type, default and choices, as one sentence part: its
// meaning, its condition, its names in other programs.
std::string MeaningOf(const ParamInfo& info, std::string_view condition);

// The reference page of all keys in Markdown (docs/recipes.md).
std::string RecipeReference(RecipeCatalogues catalogues);

// Parameters as a Markdown table.
std::string ParamTable(std::span<const ParamInfo> params);

}  // namespace tandem::config
