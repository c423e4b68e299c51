// The model of a run: as the recipe wants it loaded, and what is saved with it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"
#include "objective/matryoshka.h"

namespace tandem::train {

// The model that training starts from, with whole embeddings whatever the folder's truncate_dim is.
// Throws as DualEncoder::Load, and RecipeError for a choice of what is trained that does not fit
// the model.
std::unique_ptr<model::DualEncoder> LoadRunModel(const config::LoadedRecipe& loaded);

// Has the model saved with a truncate_dim where the widest of `widths`, the first one, is not the
// whole width: what is after it is not trained. Warns of that. Does nothing without widths. Throws
// RecipeError for a width that embeddings do not have.
void UseDimensions(const config::LoadedRecipe& loaded, std::span<const objective::Width> widths,
                   model::DualEncoder& model);

// The prompts that the recipe gives the tasks of its data sources, by the tasks' names: that of
// queries under the name, that of documents under the name with "_document" after. Throws
// RecipeError where a task that has prompts is called "query" or "document", as those of the model
// are.
std::map<std::string, std::string> TaskPrompts(const config::LoadedRecipe& loaded);

}  // namespace tandem::train
