// The table [tune] of a recipe: what `tandem tune` searches, and how it chooses.
//
//   [tune]
//   optimizer.learning_rate = { from = 5e-6, to = 2e-4, log = true }
//   objective.name = ["infonce", "mann_whitney"]
//   objective.temperature = [0.01, 0.02, 0.05]
//   keep = ["data/general"]
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/param.h"
#include "config/recipe/recipe_parse.h"

namespace tandem::config {

// A key of recipes and the values that it may take: some, or all of a range.
struct SearchKey {
  std::string path;                 // "optimizer.learning_rate"
  std::vector<std::string> values;  // as TOML writes them; empty: `range`
  Range range;
  bool logarithmic = false;  // the logarithm is uniform; `range` is above 0
  bool whole = false;        // the key is an integer
};

struct TuneRecipe {
  std::vector<SearchKey> keys;      // ascending by path; empty: a space by the kind of data
  Strings keep;                     // BEIR folders of sentinel sets
  std::string keep_split = "test";  // of the sentinel sets
  std::optional<double> most_loss;  // that the choice may have on any of them
  Numbers average;                  // weights of the tuned model
  std::optional<bool> soup;         // average the trials' weights too; none: unless `retrain`
  std::optional<std::string> test;  // BEIR folder
  std::string test_split = "test";  // of `test`
  bool retrain = false;             // train the choice again, on the validation queries too
  int64_t rungs = 3;                // lengths at which trials are compared
};

// A recipe, what it says of the search, and the text that trials are made of.
struct LoadedTune {
  TuneRecipe tune;
  LoadedRecipe recipe;  // as `tandem train` reads it, with positions of [tune]'s own keys
  std::string text;     // of the recipe with each `--set`, without [tune] and comments
};

// Values of keys, as TOML writes them, ascending by key. An empty value: the key is not set.
using Assignment = std::vector<std::pair<std::string, std::string>>;

// Reads a recipe as LoadRecipe does, and its table [tune]. Throws RecipeError at the place of the
// first mistake in [tune]: a key that recipes do not have or that cannot be searched, a list
// without a value, a value that the key does not take, a range whose ends are in the wrong order.
LoadedTune LoadTune(const std::filesystem::path& file, std::span<const std::string> sets,
                    RecipeCatalogues catalogues);
LoadedTune ParseTune(std::string_view text, std::string_view name,
                     std::span<const std::string> sets, RecipeCatalogues catalogues);

// A trial's recipe: its text is `tune.text` with these values, and it is checked as any recipe is.
// Keys that do nothing beside the values, as `objective.temperature` where the objective has none,
// are left out of the text, and out of `assignment`. `name` stands for the file in messages.
LoadedRecipe MakeTrialRecipe(const LoadedTune& tune, std::string_view name, Assignment* assignment);

// Why the key, which has one of the values, does nothing beside the others: "it needs model.train =
// "lora""; "" where it does something, or the entry that the recipe names has no such key.
std::string WhyIdle(const LoadedTune& tune, const Assignment& assignment, std::string_view path);

// The recipe of a trial with these values that trains on its validation data too, beside its
// training data, and validates no more.
LoadedRecipe MakeRetrainingRecipe(const LoadedTune& tune, std::string_view name,
                                  Assignment* assignment);

}  // namespace tandem::config
