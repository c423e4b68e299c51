// Finds errors of a run that only its batches show.
#pragma once

#include "config/recipe/recipe_parse.h"
#include "sampling/sampler.h"
#include "train/mining/negative_miner.h"
#include "train/setup/resolved_run.h"
#include "train/step/batch.h"

namespace tandem::train {

// Throws RecipeError if a batch has fewer queries than the run's group has processes.
void CheckRanks(const ResolvedRun& run, const sampling::Sampler& sampler);

// Throws RecipeError if the first batch has no negative, so that nothing could be learned from it:
// it has one query, its queries are all the same, or masks leave none. Random documents stand in
// for those that `miner` (null: no mining) will have mined before the run makes this batch.
void CheckFirstBatch(const config::LoadedRecipe& loaded, const BatchMaker& batches,
                     const NegativeMiner* miner, sampling::Sampler& sampler);

}  // namespace tandem::train
