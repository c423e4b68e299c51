#include "config/recipe/recorded_recipes.h"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace tandem::config {
namespace {

// The settings of the command line, which comments at the top of recipe.given.toml name, one on
// each line.
std::vector<std::string> SetsAbove(std::string_view text) {
  constexpr std::string_view kStart = "#   --set ";
  std::vector<std::string> sets;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    if (line.starts_with(kStart)) sets.push_back(line.substr(kStart.size()));
  }
  return sets;
}

}  // namespace

Recipe ReadResolvedRecipe(std::string_view text, std::string_view name,
                          RecipeCatalogues catalogues) {
  LoadedRecipe loaded = ParseRecipe(text, name, {}, catalogues, IdleKeys::kAccept);
  if (!loaded.positions.contains("data.masks.query_text")) {
    loaded.recipe.data.masks.query_text = false;
  }
  return std::move(loaded.recipe);
}

Recipe ReadGivenRecipe(std::string_view text, std::string_view name, RecipeCatalogues catalogues) {
  return ParseRecipe(text, name, SetsAbove(text), catalogues, IdleKeys::kAccept).recipe;
}

}  // namespace tandem::config
