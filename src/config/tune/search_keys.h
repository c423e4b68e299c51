// Which keys of a recipe can be searched, and the values that [tune] gives them. Internal to
// reading [tune].
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "config/recipe/toml_layer.h"
#include "config/tune/tune_recipe.h"

namespace tandem::config {

// The keys of [tune] that are no keys of a recipe.
inline constexpr std::string_view kTuneKeys[] = {
    "average", "keep", "keep_split", "most_loss", "retrain", "rungs", "soup", "test", "test_split"};

// Pairs of keys of which a recipe may have one.
inline constexpr std::pair<std::string_view, std::string_view> kEitherKey[] = {
    {"train.epochs", "train.steps"},
    {"train.batch", "train.batch_tokens"},
    {"validation.data", "validation.holdout"},
    {"data.positive_grade", "data.binarize_at"},
    {"data.train", "data.source"}};

// The keys to search in the [tune] of all layers, of which the last one that has a key counts.
// `recipe` is the one that they are searched around. Adds the place of each to `positions`, as
// "tune.optimizer.clip". Throws RecipeError at the first mistake.
std::vector<SearchKey> ReadSearchKeys(std::span<const TomlLayer> layers, const Recipe& recipe,
                                      RecipeCatalogues catalogues, RecipePositions* positions);

// The entry that `table` names in a recipe; null for tables that name none.
EntryRecipe* EntryOf(Recipe& recipe, std::string_view table);

}  // namespace tandem::config
