#include "config/recipe/recipe_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "config/recipe/recipe_reader.h"
#include "config/recipe/recipe_text.h"
#include "config/recipe/sources.h"

namespace tandem::config {
namespace {

std::vector<TomlLayer> MakeLayers(std::string_view text, std::string_view name,
                                  std::span<const std::string> sets) {
  std::vector<TomlLayer> layers;
  layers.push_back(ParseFileLayer(text, name));
  for (const std::string& set : sets) layers.push_back(ParseSetLayer(set));
  return layers;
}

void Fill(Recipe& recipe, RecipeReader& reader) {
  recipe.data.sources.resize(reader.LengthOf("data.source"));
  recipe.validation.sources.resize(reader.LengthOf("validation.source"));
  VisitRecipe(recipe, reader);
}

// `--set data.train` takes the file's list of data sets out of use.
void DropUnusedSources(const RecipeReader& reader, DataRecipe& data) {
  const std::optional<Found> train = reader.Find("data.train");
  const std::optional<Found> sources = reader.Find("data.source");
  if (train && sources && train->layer > 0 && sources->layer == 0) data.sources.clear();
}

// `--set validation.data` and `--set validation.holdout` take the file's list out of use.
void CheckValidation(RecipeReader& reader, ValidationRecipe& validation) {
  const std::string_view dropped = reader.Exclude("validation.data", "validation.holdout");
  if (dropped == "validation.data") validation.data.reset();
  if (dropped == "validation.holdout") validation.holdout.reset();
  for (const char* key : {"validation.data", "validation.holdout"}) {
    if (reader.Exclude(key, "validation.source") == "validation.source") validation.sources.clear();
  }
  if (!validation.enabled() && reader.HasEmptyTable("validation")) {
    reader.Complain("validation", "needs data (with split), holdout or [[validation.source]]");
  }
  if (!validation.sources.empty() && validation.by_loss()) {
    reader.Complain("validation.measure",
                    "is \"loss\", which data sets of [[validation.source]] are not measured by: "
                    "give a measure of rankings, or validation.data");
  }
  if (validation.every.IsZero()) {
    reader.Complain("validation.every",
                    "must be more than 0; to validate never, leave out [validation]");
  }
}

void CheckDimensions(RecipeReader& reader, const ModelRecipe& model) {
  const std::set<int64_t> distinct(model.dimensions.begin(), model.dimensions.end());
  if (distinct.size() < model.dimensions.size()) {
    reader.Complain("model.dimensions", "names a width twice; give each once");
  }
  const size_t weights = model.dimension_weights.size(), widths = model.dimensions.size();
  if (weights > 0 && widths > 0 && weights != widths) {
    reader.Complain("model.dimension_weights",
                    fmt::format("has {} numbers for {} of model.dimensions; give one for each",
                                weights, widths));
  }
}

// Checks what types and ranges of single keys cannot say.
void CheckTogether(RecipeReader& reader, Recipe& recipe) {
  const std::string_view length = reader.Exclude("train.epochs", "train.steps");
  if (length == "train.steps") recipe.train.steps.reset();
  if (recipe.train.steps.has_value()) recipe.train.epochs.reset();
  if (reader.Exclude("train.batch", "train.batch_tokens") == "train.batch_tokens") {
    recipe.train.batch_tokens.reset();
  }
  if (recipe.train.batch_tokens.has_value()) recipe.train.batch.reset();
  CheckValidation(reader, recipe.validation);
  CheckDimensions(reader, recipe.model);
  DataRecipe& data = recipe.data;
  if (!reader.Find("data.positive_grade")) data.positive_grade = data.default_positive_grade();
  DropUnusedSources(reader, data);
  if (data.binarize_at && data.positive_grade != *data.binarize_at) {
    if (reader.Exclude("data.positive_grade", "data.binarize_at") == "data.binarize_at") {
      data.binarize_at.reset();
    } else {
      data.positive_grade = *data.binarize_at;
    }
  }
  for (const SourceProblem& problem : ProblemsOfSources(data)) {
    reader.Complain(problem.key, problem.text);
  }
  if (!recipe.mining.enabled() && reader.HasEmptyTable("mining")) {
    reader.Complain("mining", "needs every");
  }
}

}  // namespace

RecipeError LoadedRecipe::ErrorAt(std::string_view key, std::string_view problem) const {
  const std::string message = fmt::format("{} {}", key, problem);
  const auto found = positions.find(key);
  if (found == positions.end()) return RecipeError(file, 0, 0, key, message);
  const RecipePosition& position = found->second;
  return RecipeError(position.source, position.line, position.column, key, message);
}

LoadedRecipe ParseRecipe(std::string_view text, std::string_view name,
                         std::span<const std::string> sets, RecipeCatalogues catalogues,
                         IdleKeys idle_keys) {
  const std::vector<TomlLayer> layers = MakeLayers(text, name, sets);
  LoadedRecipe loaded{.file = std::string(name),
                      .text = std::string(text),
                      .sets = {sets.begin(), sets.end()},
                      .catalogues = catalogues};
  RecipeReader reader(layers, catalogues);
  Fill(loaded.recipe, reader);
  CheckTogether(reader, loaded.recipe);
  reader.LeaveTable("tune");  // of `tandem tune` (config/tune/tune_recipe.h)
  reader.CheckUnknownKeys();
  reader.ThrowFirstMistake();
  if (idle_keys == IdleKeys::kRefuse) reader.CheckIdleKeys(loaded.recipe);
  reader.ThrowFirstMistake();
  loaded.positions = reader.Positions();
  loaded.left_over = reader.LeftOver();
  return loaded;
}

std::string ReadRecipeFile(const std::filesystem::path& file) {
  try {
    return ReadFile(file);
  } catch (const DataError& error) {  // a wrong path to a recipe is a usage error
    throw UsageError(error.what());
  }
}

LoadedRecipe LoadRecipe(const std::filesystem::path& file, std::span<const std::string> sets,
                        RecipeCatalogues catalogues) {
  return ParseRecipe(ReadRecipeFile(file), file.native(), sets, catalogues);
}

}  // namespace tandem::config
