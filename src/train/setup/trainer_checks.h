// What is wrong with a run that only its batches show.
#pragma once

#include "config/recipe/recipe_parse.h"
#include "sampling/sampler.h"
#include "train/mining/negative_miner.h"
#include "train/setup/resolved_run.h"
#include "train/step/batch.h"

namespace tandem::train {

// Throws RecipeError where a batch has not a query for each process of the run's group.
void CheckRanks(const ResolvedRun& run, const sampling::Sampler& sampler);

// Throws RecipeError where the first batch has no negative, so that nothing could be learned: it
// has one query, its queries are all the same, or masks leave none. Documents at random stand for
// those that `miner` (null: nothing is mined) will have mined before the run makes this batch.
void CheckFirstBatch(const config::LoadedRecipe& loaded, const BatchMaker& batches,
                     const NegativeMiner* miner, sampling::Sampler& sampler);

}  // namespace tandem::train
