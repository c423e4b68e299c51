// Loads the model of a run as the recipe asks, and decides the settings that are saved with it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"
#include "objective/matryoshka.h"

namespace tandem::train {

// Returns the model that training starts from, with embeddings of full width whatever truncate_dim
// its folder gives. Throws as DualEncoder::Load, and RecipeError if the recipe's choice of trained
// parameters does not fit the model.
std::unique_ptr<model::DualEncoder> LoadRunModel(const config::LoadedRecipe& loaded);

// Has the model saved with a truncate_dim, and warns of it, if the first and largest of `widths` is
// less than the full width, because the components after it are not trained. Does nothing without
// widths. Throws RecipeError for a width that the embeddings do not have.
void UseDimensions(const config::LoadedRecipe& loaded, std::span<const objective::Width> widths,
                   model::DualEncoder& model);

// Returns the prompts that the recipe gives to the tasks of its data sources, by the tasks' names:
// the query prompt under the name, the document prompt under the name with "_document" added.
// Throws RecipeError if a task with prompts is called "query" or "document", which are the names of
// the model's own prompts.
std::map<std::string, std::string> TaskPrompts(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
