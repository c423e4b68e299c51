// Reads the data sets of a run that validates on several, [[validation.source]].
#pragma once

#include <vector>

#include "config/recipe/recipe_parse.h"
#include "objective/catalogue.h"
#include "train/inputs/run_data.h"

namespace tandem::train {

// Reads the sources one after the other. Where one says a number of queries, its judged queries are
// drawn from stream (seed, "validation queries"), so that a smaller number's are among a larger
// one's; their judgements alone count. Notes the size of each. Throws as the readers do, and
// RecipeError for a split of a file of lines.
std::vector<ValidationSource> ReadValidationSources(const config::LoadedRecipe& loaded,
                                                    const objective::Needs& needs);

}  // namespace tandem::train
