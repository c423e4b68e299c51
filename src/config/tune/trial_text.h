// The text of a trial's recipe. Internal to reading [tune].
#pragma once

#include <span>
#include <string>

#include "config/recipe/recipe_parse.h"
#include "config/recipe/toml_layer.h"
#include "config/tune/tune_recipe.h"

namespace tandem::config {

// One text of the file and each `--set` over it, without [tune]. A key that a `--set` takes out of
// use, as it may (LoadRecipe), is left out.
std::string TextWithoutTune(std::span<const TomlLayer> layers, RecipeCatalogues catalogues);

// `text` with the values of `assignment`, from which keys are taken out that do nothing beside the
// others; so are they from the text.
std::string TextWith(const std::string& text, Assignment* assignment, RecipeCatalogues catalogues);

// Why the key at `path` of `text` with the values of `assignment` does nothing; "" where it does
// something, or is of another entry than the recipe's.
std::string WhyIdleIn(const std::string& text, const Assignment& assignment, std::string_view path,
                      RecipeCatalogues catalogues);

// `text` without [validation], whose data are one more data set of training.
std::string TextWithValidationTrained(const std::string& text, RecipeCatalogues catalogues);

}  // namespace tandem::config
