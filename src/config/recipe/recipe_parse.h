// Reading a recipe: TOML with the position of every mistake, and `--set` on top of it.
//
//   const LoadedRecipe loaded = LoadRecipe("recipes/mw.toml", {"train.batch=32"}, catalogues);
//   if (problem) throw loaded.ErrorAt("validation.measure", "...");
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/catalogue.h"
#include "config/recipe/recipe.h"

namespace tandem::config {

// All catalogues; a recipe names entries of those that have a recipe table. Must outlive whatever
// was read with them.
using RecipeCatalogues = std::span<const Catalogue>;

// How a key is treated that is set and has no effect in its recipe.
enum class IdleKeys {
  kRefuse,  // an error that says what the key needs
  kAccept   // nothing: run folders of older versions hold such keys
};

// The place that a value came from.
struct RecipePosition {
  std::string source;  // the file, or the `--set` argument as it was given
  int line = 0;        // from 1; 0 for `--set`
  int column = 0;
};

// The position of each key that was given.
using RecipePositions = std::map<std::string, RecipePosition, std::less<>>;

struct LoadedRecipe {
  Recipe recipe;
  std::string file;
  std::string text;               // of the file, as it is
  std::vector<std::string> sets;  // each `--set` over it, as it was given
  RecipePositions positions;
  RecipeCatalogues catalogues;  // the ones that it was read with
  // Says of each key of the file that was dropped because it belongs to another entry (objective,
  // sampler, ...) than the one that a `--set` names.
  std::vector<std::string> left_over = {};

  // An error at the place where `key` ("validation.measure") was given, else at the file; the
  // message is prefixed by the key.
  RecipeError ErrorAt(std::string_view key, std::string_view problem) const;
};

// The text of a recipe's file; UsageError where it cannot be read.
std::string ReadRecipeFile(const std::filesystem::path& file);

// Reads `file`, then each of `sets` (KEY=VALUE, VALUE in TOML or a bare string); later ones win.
// Throws RecipeError for the first place at fault: an unknown key, a wrong type, a value out of
// range, a missing key, keys that contradict each other, a key that does nothing. A missing file is
// a UsageError. `--set` may take a key of the file out of use: where it gives one of two keys that
// exclude each other, or makes a key of the file do nothing, the file's key is dropped;
// where it names another entry of a catalogue, so are the file's parameters of the one before that
// the new one does not have (LoadedRecipe::left_over).
LoadedRecipe LoadRecipe(const std::filesystem::path& file, std::span<const std::string> sets,
                        RecipeCatalogues catalogues);

// Parses a recipe from text; `name` stands for the file in messages.
LoadedRecipe ParseRecipe(std::string_view text, std::string_view name,
                         std::span<const std::string> sets, RecipeCatalogues catalogues,
                         IdleKeys idle_keys = IdleKeys::kRefuse);

}  // namespace tandem::config
