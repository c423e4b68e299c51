#include "train/plan.h"

#include <algorithm>

namespace tandem::train {
namespace {

int64_t Steps(const config::TrainRecipe& recipe, const sampling::Sampler& sampler) {
  if (recipe.steps) return *recipe.steps;
  const auto batches = static_cast<int64_t>(sampler.BatchesIn(recipe.epochs.value_or(1)));
  return std::max<int64_t>(1, (batches + recipe.accumulate - 1) / recipe.accumulate);
}

}  // namespace

RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler) {
  RunPlan plan{.steps = Steps(recipe.train, sampler),
               .keep_checkpoints = recipe.train.keep_checkpoints};
  const auto cadence = [&plan](const config::Quantity& every) {
    return every.IsZero() ? 0 : std::max<int64_t>(1, every.Of(plan.steps));
  };
  plan.warmup = std::min(plan.steps, recipe.schedule.warmup.Of(plan.steps));
  plan.checkpoint_every = cadence(recipe.train.checkpoint_every);
  if (recipe.validation.enabled()) {
    plan.validate_every = std::max<int64_t>(1, recipe.validation.every.Of(plan.steps));
  }
  return plan;
}

}  // namespace tandem::train
