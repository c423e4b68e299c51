#include "tune/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
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

// What stands for the file in messages of a recipe with drawn values.
std::string DrawName(const config::LoadedTune& tune, uint64_t draw) {
  return fmt::format("{} with the values of draw {} of [tune]", tune.recipe.file, draw);
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

void CheckKeysDoSomething(const config::LoadedTune& tune) {
  constexpr uint64_t kMostDraws = 2000;
  const auto seed = static_cast<uint64_t>(tune.recipe.recipe.seed);
  std::map<std::string, std::string> idle;  // why, by path
  for (const config::SearchKey& key : tune.tune.keys) idle[key.path];
  for (uint64_t draw = 0; draw < kMostDraws && !idle.empty(); ++draw) {
    const Assignment drawn = DrawValues(tune.tune.keys, seed, draw);
    Assignment kept = drawn;
    config::MakeTrialRecipe(tune, DrawName(tune, draw), &kept);
    for (const auto& [path, value] : kept) idle.erase(path);
    for (auto& [path, why] : idle) {
      if (why.empty()) why = config::WhyIdle(tune, drawn, path);
    }
  }
  if (idle.empty()) return;
  const auto& [path, why] = *idle.begin();
  throw tune.recipe.ErrorAt(
      "tune." + path, fmt::format("does nothing in any trial{}{}", why.empty() ? "" : ": ", why));
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
    const config::LoadedRecipe recipe =
        config::MakeTrialRecipe(tune, DrawName(tune, draw), &values);
    const bool is_new = known.insert(whole(recipe)).second;
    in_vain = is_new ? 0 : in_vain + 1;
    if (is_new) drawn.push_back(std::move(values));
  }
  return drawn;
}

}  // namespace tandem::tune
