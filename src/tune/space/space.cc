#include "tune/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/random.h"
#include "config/recipe/recipe_text.h"

namespace tandem::tune {
namespace {

std::string NumberIn(const config::SearchKey& key, double share) {
  const auto [low, high] = key.range;
  // Each whole number is as probable as the others, in its logarithm as wide as it is.
  const double from = key.whole && !key.logarithmic ? low - 0.5 : low;
  const double to = key.whole && !key.logarithmic ? high + 0.5 : high;
  const double number = key.logarithmic
                            ? std::exp(std::log(low) + share * (std::log(high) - std::log(low)))
                            : from + share * (to - from);
  if (key.whole) return fmt::format("{}", std::llround(std::clamp(std::round(number), low, high)));
  const double rounded = std::stod(fmt::format("{:.2e}", number));  // three digits can be read
  return config::FormatValue(std::clamp(rounded, low, high));
}

}  // namespace

Assignment DrawValues(const std::vector<config::SearchKey>& keys, uint64_t seed, uint64_t draw) {
  RandomStream random({.seed = seed, .purpose = "tune", .epoch = draw});
  Assignment assignment;
  for (const config::SearchKey& key : keys) {
    std::string value = key.values.empty() ? NumberIn(key, random.Uniform())
                                           : key.values[random.Below(key.values.size())];
    assignment.emplace_back(key.path, std::move(value));
  }
  return assignment;
}

std::vector<Assignment> DrawConfigurations(const config::LoadedTune& tune, uint64_t seed,
                                           int64_t most) {
  constexpr int kMostInVain = 100;
  std::vector<Assignment> drawn = {{}};
  Assignment none;
  // Recipes are compared with every value, since a key may be left out or have its default.
  const auto whole = [&tune](const config::LoadedRecipe& loaded) {
    return config::FormatRecipe(loaded.recipe, tune.recipe.catalogues);
  };
  std::set<std::string> known = {whole(config::MakeTrialRecipe(tune, "the recipe", &none))};
  int in_vain = 0;
  for (uint64_t draw = 0; static_cast<int64_t>(drawn.size()) < most && in_vain < kMostInVain;
       ++draw) {
    Assignment values = DrawValues(tune.tune.keys, seed, draw);
    const config::LoadedRecipe recipe = config::MakeTrialRecipe(
        tune, fmt::format("{} with the values of draw {} of [tune]", tune.recipe.file, draw),
        &values);
    const bool is_new = known.insert(whole(recipe)).second;
    in_vain = is_new ? 0 : in_vain + 1;
    if (is_new) drawn.push_back(std::move(values));
  }
  return drawn;
}

}  // namespace tandem::tune
