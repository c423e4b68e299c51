#include "train/checks/empty_batches.h"

#include <fmt/format.h>

#include <algorithm>

#include "sampling/masks.h"

namespace tandem::train {

std::string EmptyBatchText(std::string_view who) {
  return fmt::format(
      "{} no allowed negative, so that nothing is learned from it: its queries share a text or a "
      "document, or masks leave none; give data.negatives, a larger train.batch or other queries",
      who);
}

bool IsEmpty(const BatchMaker& batches, const sampling::Batch& batch) {
  const objective::Needs& needs = batches.needs();
  const bool labelled = batch.columns() > batch.rows();
  // An objective that uses grades compares the labelled documents of a query with each other.
  if (!needs.negatives || (needs.grades && labelled)) return false;
  // The rows are tested one by one, because the first one nearly always has a negative already.
  for (size_t row = 0; row < batch.rows(); ++row) {
    const sampling::Masks masks =
        sampling::MakeMasks(batches.examples(), batch, batches.rules(), row, row + 1);
    if (std::find(masks.negative.begin(), masks.negative.end(), 1) != masks.negative.end()) {
      return false;
    }
  }
  return true;
}

EmptyBatches CountEmptyBatches(const Trainer& trainer, const RunPlan& plan) {
  sampling::Sampler& sampler = *trainer.sampler;
  const sampling::SamplerState state = sampler.State();
  if (trainer.miner != nullptr) sampler.set_mined(trainer.miner->StandIn());
  const auto steps = static_cast<uint64_t>(plan.steps);
  const uint64_t most = steps * static_cast<uint64_t>(trainer.recipe().train.accumulate);
  EmptyBatches found;
  while (found.batches < most && sampler.Passes() < 1) {
    found.empty += IsEmpty(trainer.batches, sampler.Next()) ? 1 : 0;
    ++found.batches;
  }
  sampler.Restore(state);
  return found;
}

}  // namespace tandem::train
