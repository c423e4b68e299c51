// Reading a recipe: TOML with the position of every mistake, and `--set` on top of it.
//
//   const LoadedRecipe loaded = LoadRecipe("recipes/mw.toml", {"train.batch=32"},
//                                          {objectives, optimizers});
//   if (!IsMeasure(loaded.recipe.validation.measure)) throw loaded.ErrorAt("validation.measure",
//   ...);
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/catalogue.h"
#include "config/recipe.h"

namespace tandem::config {

// The catalogues that a recipe names entries of, told by those who own them.
struct RecipeCatalogues {
  std::span<const EntryInfo* const> objectives;
  std::span<const EntryInfo* const> optimizers;

  // Those of a recipe's table: "objective" or "optimizer".
  std::span<const EntryInfo* const> Of(std::string_view kind) const {
    return kind == "objective" ? objectives : optimizers;
  }
};

// Where a value came from.
struct RecipePosition {
  std::string source;  // the file, or the `--set` argument as it was given
  int line = 0;        // from 1; 0 for `--set`
  int column = 0;
};

struct LoadedRecipe {
  Recipe recipe;
  std::string file;
  std::map<std::string, RecipePosition, std::less<>> positions;  // of each key that was given

  // An error at the place where `key` ("validation.measure") was given, else at the file; the
  // message is prefixed by the key.
  RecipeError ErrorAt(std::string_view key, std::string_view problem) const;
};

// Reads `file`, then each of `sets` (KEY=VALUE, VALUE in TOML or a bare string); later ones win.
// Unknown keys, wrong types, values out of range, missing and contradicting keys throw RecipeError
// for the first place at fault; a missing file UsageError. Where `--set` gives one of two
// keys that exclude each other and the file the other, `--set` wins.
LoadedRecipe LoadRecipe(const std::filesystem::path& file, std::span<const std::string> sets,
                        const RecipeCatalogues& catalogues);

// The same from text; `name` stands for the file in messages.
LoadedRecipe ParseRecipe(std::string_view text, std::string_view name,
                         std::span<const std::string> sets, const RecipeCatalogues& catalogues);

}  // namespace tandem::config
