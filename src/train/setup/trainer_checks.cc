#include "train/setup/trainer_checks.h"

#include <fmt/format.h>

#include <cstdint>

#include "train/checks/empty_batches.h"
#include "train/setup/plan.h"

namespace tandem::train {
namespace {

const char* BatchKey(const config::Recipe& recipe) {
  return recipe.train.batch ? "train.batch" : "train.batch_tokens";
}

}  // namespace

void CheckRanks(const ResolvedRun& run, const sampling::Sampler& sampler) {
  const uint64_t queries = LargestBatch(sampler);
  const auto ranks = static_cast<uint64_t>(run.group->ranks());
  if (queries >= ranks) return;
  throw run.loaded.ErrorAt(
      BatchKey(run.recipe()),
      fmt::format(
          "makes batches of {} queries, which {} processes cannot share; raise it, or start "
          "at most {} processes",
          queries, ranks, queries));
}

void CheckFirstBatch(const config::LoadedRecipe& loaded, const BatchMaker& batches,
                     const NegativeMiner* miner, sampling::Sampler& sampler) {
  const sampling::SamplerState state = sampler.State();
  if (miner != nullptr) sampler.set_mined(miner->StandIn());
  const sampling::Batch batch = sampler.Next();
  sampler.Restore(state);
  if (!IsEmpty(batches, batch)) return;
  throw loaded.ErrorAt(
      BatchKey(loaded.recipe),
      fmt::format(
          "makes a first batch of {} queries and {} documents without any allowed negative; "
          "raise it, give data.negatives, or look at data.masks and at queries that share "
          "their documents",
          batch.rows(), batch.columns()));
}

}  // namespace tandem::train
