#include "config/tune/tune_recipe.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/recipe/recipe_reader.h"
#include "config/recipe/toml_layer.h"
#include "config/tune/search_keys.h"
#include "config/tune/trial_text.h"

namespace tandem::config {
namespace {

// The keys of [tune] that say how trials are made and chosen.
void ReadTuneKeys(TuneRecipe& tune, RecipeReader& reader) {
  reader.Table("tune", "");
  reader.Field("keep", tune.keep, {});
  reader.Field("keep_split", tune.keep_split, {});
  reader.Field("most_loss", tune.most_loss, {.range = {0, 1}});
  reader.Field("average", tune.average, {.range = {0, 1}});
  reader.Field("soup", tune.soup, {});
  reader.Field("test", tune.test, {});
  reader.Field("test_split", tune.test_split, {});
  reader.Field("retrain", tune.retrain, {});
  reader.Field("rungs", tune.rungs, {.unit = "rungs", .range = {1, 5}});
  if (tune.most_loss && tune.keep.empty()) {
    reader.Complain("tune.most_loss", "does nothing here: needs tune.keep");
  }
  if (tune.soup.value_or(false) && tune.retrain) {
    reader.Complain("tune.soup",
                    "is the mean of several trials, and tune.retrain trains one of them again; "
                    "leave one of the two out");
  }
  const std::string usual = TuneRecipe().test_split;  // of keep_split too
  if (tune.keep_split != usual && tune.keep.empty()) {
    reader.Complain("tune.keep_split", "does nothing here: needs tune.keep");
  }
  if (tune.test_split != usual && !tune.test) {
    reader.Complain("tune.test_split", "does nothing here: needs tune.test");
  }
  for (size_t i = 1; i < tune.average.size(); ++i) {
    if (std::find(tune.average.begin(), tune.average.begin() + static_cast<int64_t>(i),
                  tune.average[i]) == tune.average.begin() + static_cast<int64_t>(i)) {
      continue;
    }
    reader.Complain("tune.average", fmt::format("has {} twice", tune.average[i]));
  }
  for (const double weight : tune.average) {
    if (weight > 0 && weight < 1) continue;
    reader.Complain("tune.average",
                    fmt::format("has {}; weights of the tuned model between 0 and 1 are expected, "
                                "whose ends are the base and the tuned model themselves",
                                weight));
  }
}

}  // namespace

LoadedTune ParseTune(std::string_view text, std::string_view name,
                     std::span<const std::string> sets, RecipeCatalogues catalogues) {
  LoadedTune loaded{.recipe = ParseRecipe(text, name, sets, catalogues)};
  std::vector<TomlLayer> layers;
  layers.push_back(ParseFileLayer(text, name));
  for (const std::string& set : sets) layers.push_back(ParseSetLayer(set));
  RecipeReader reader(layers, catalogues);
  ReadTuneKeys(loaded.tune, reader);
  reader.ThrowFirstMistake();
  loaded.tune.keys =
      ReadSearchKeys(layers, loaded.recipe.recipe, catalogues, &loaded.recipe.positions);
  loaded.recipe.positions.merge(reader.Positions());
  loaded.text = TextWithoutTune(layers, catalogues);
  return loaded;
}

LoadedTune LoadTune(const std::filesystem::path& file, std::span<const std::string> sets,
                    RecipeCatalogues catalogues) {
  return ParseTune(ReadRecipeFile(file), file.native(), sets, catalogues);
}

LoadedRecipe MakeTrialRecipe(const LoadedTune& tune, std::string_view name,
                             Assignment* assignment) {
  const std::string text = TextWith(tune.text, assignment, tune.recipe.catalogues);
  return ParseRecipe(text, name, {}, tune.recipe.catalogues);
}

std::string WhyIdle(const LoadedTune& tune, const Assignment& assignment, std::string_view path) {
  return WhyIdleIn(tune.text, assignment, path, tune.recipe.catalogues);
}

LoadedRecipe MakeRetrainingRecipe(const LoadedTune& tune, std::string_view name,
                                  Assignment* assignment) {
  const std::string text = TextWith(tune.text, assignment, tune.recipe.catalogues);
  return ParseRecipe(TextWithValidationTrained(text, tune.recipe.catalogues), name, {},
                     tune.recipe.catalogues);
}

}  // namespace tandem::config
