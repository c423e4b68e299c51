// Reads the several data sets of a run, [[data.source]].
#pragma once

#include <cstdint>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "objective/catalogue.h"
#include "train/inputs/run_data.h"

namespace tandem::train {

// Reads one source after the other into set, sources and query_prompt, so that no two are in memory
// beside what they are put into; two splits of one folder share its texts where they have the same
// prompts. Notes the size of each, and warns where one is trained on twice. Throws as ReadRunData.
void ReadSources(const config::LoadedRecipe& loaded, const objective::Needs& needs, RunData& data);

// Throws DataError for a source of the recipe that has a share of the run, but no query in
// data.training.
void CheckEverySourceTrains(const config::LoadedRecipe& loaded, const RunData& data);

// The source of each training query, [data.training], ascending.
std::vector<uint32_t> SourcesOf(const RunData& data);

}  // namespace tandem::train
