// Reads the recipe of a run, and finds the folders that it names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"

namespace tandem::app {

// The recipes of a run folder. recipe.resolved.toml has every value but only the last part of every
// path; recipe.given.toml has the paths as the user gave them.
struct RunRecipe {
  config::Recipe resolved;
  std::optional<config::Recipe> given;  // none if it is missing or cannot be read

  // Return the paths where the base model and the validation data may be, the likeliest first: the
  // given path, if it has the last part of the one that the run used, then the last part alone.
  // Relative paths are relative to the current folder, as they were in training. Empty for a recipe
  // without validation data.
  std::vector<std::string> BasePlaces() const;
  std::vector<std::string> ValidationPlaces() const;
};

// Returns none if the run has no resolved recipe that can be read.
std::optional<RunRecipe> ReadRunRecipe(const std::filesystem::path& run);

}  // namespace tandem::app
