#include "commands/run_recipe.h"

#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "commands/catalogues.h"
#include "config/recipe/recorded_recipes.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

std::optional<config::Recipe> ReadRecipe(const fs::path& file, bool given) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    const std::string text = ReadFile(file);
    const auto read = given ? &config::ReadGivenRecipe : &config::ReadResolvedRecipe;
    return read(text, file.native(), AllCatalogues());
  } catch (const Error&) {
    return std::nullopt;
  }
}

fs::path LastPart(const std::string& path) {
  const fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal.filename() : normal.parent_path().filename();
}

std::vector<std::string> Places(const std::string& resolved,
                                const std::optional<std::string>& given) {
  if (resolved.empty()) return {};
  // A given path with another last part is not the one that the run used: somebody has changed one
  // of the files.
  if (!given || given->empty() || *given == resolved || LastPart(*given) != LastPart(resolved)) {
    return {resolved};
  }
  return {*given, resolved};
}

}  // namespace

std::vector<std::string> RunRecipe::BasePlaces() const {
  return Places(resolved.model.base, given ? std::optional(given->model.base) : std::nullopt);
}

std::vector<std::string> RunRecipe::ValidationPlaces() const {
  return Places(resolved.validation.data.value_or(""),
                given ? given->validation.data : std::nullopt);
}

std::optional<RunRecipe> ReadRunRecipe(const fs::path& run) {
  std::optional<config::Recipe> resolved = ReadRecipe(run / "recipe.resolved.toml", false);
  if (!resolved) return std::nullopt;
  return RunRecipe{std::move(*resolved), ReadRecipe(run / "recipe.given.toml", true)};
}

}  // namespace tandem::app
