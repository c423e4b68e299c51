// What a run folder says of the data and the models that the run began with: where they lay, and
// their fingerprints. recipe.resolved.toml has only the last part of each path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/recipe/recipe_parse.h"

namespace tandem::report {

struct RunInputs {
  // By key of the recipe ("data.train", "data.source.2.path", "model.base"): the path as it was
  // given, without "." and "..". Empty where there is no recipe.given.toml.
  std::map<std::string, std::string, std::less<>> paths;
  // As the checkpoints keep them (train/inputs/input_fingerprints.h); none without a checkpoint.
  // Of everything that training and validation read, and of the base model with the tokens that it
  // makes of the texts.
  std::optional<uint64_t> data;
  std::optional<uint64_t> base;
};

// Says whether the key's value is the path of data or of a model, of which records of runs keep the
// last part alone.
bool IsInputPath(std::string_view key);

// Reads recipe.given.toml and the newest state.json below checkpoints/ of the run's folder. What is
// there and cannot be read is said in `problems`, with the file and the reason.
RunInputs ReadRunInputs(const std::filesystem::path& folder, config::RecipeCatalogues catalogues,
                        std::vector<std::string>& problems);

}  // namespace tandem::report
