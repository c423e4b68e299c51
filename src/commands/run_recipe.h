// The recipe of a run, and where the folders that it names may lie.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"

namespace tandem::app {

// Of a run folder. Its recipe.resolved.toml has every value but only the last part of every path;
// its recipe.given.toml has the paths as the user gave them.
struct RunRecipe {
  config::Recipe resolved;
  std::optional<config::Recipe> given;  // none where it is missing or cannot be read

  // Where the base model and the validation data may lie, the likeliest place first: as it was
  // given, where that is a path to what the run used, then the last part alone. Relative paths are
  // of the current folder, as they were in training. Empty for a recipe without validation data.
  std::vector<std::string> BasePlaces() const;
  std::vector<std::string> ValidationPlaces() const;
};

// None where the run has no resolved recipe that can be read.
std::optional<RunRecipe> ReadRunRecipe(const std::filesystem::path& run);

}  // namespace tandem::app
