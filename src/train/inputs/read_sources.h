// Reads the data sets of a run that has several, [[data.source]].
#pragma once

#include <cstdint>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "objective/catalogue.h"
#include "train/inputs/run_data.h"

namespace tandem::train {

// Reads the sources one after the other into set, sources and query_prompt, so that at most one
// source is in memory beside the union. Two splits of one folder share its texts if they have the
// same prompts. Notes the size of each, and warns if one is trained on twice. Throws as
// ReadRunData.
void ReadSources(const config::LoadedRecipe& loaded, const objective::Needs& needs, RunData& data);

// Throws DataError for a source that has a share of the run but no query in data.training.
void CheckEverySourceTrains(const config::LoadedRecipe& loaded, const RunData& data);

// Returns the source of each training query, [data.training], ascending.
std::vector<uint32_t> SourcesOf(const RunData& data);

}  // namespace tandem::train
