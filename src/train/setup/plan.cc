#include "train/setup/plan.h"

#include <algorithm>
#include <cmath>

namespace tandem::train {
namespace {

// Returns the number of batches in the epochs that the recipe gives.
int64_t Batches(const config::TrainRecipe& recipe, const sampling::Sampler& sampler) {
  return std::max<int64_t>(1, static_cast<int64_t>(sampler.BatchesIn(recipe.epochs.value_or(1))));
}

// Whether the step from progress `before` to `now` reached a multiple of `share`, or the end.
bool Crossed(double before, double now, double share) {
  // Sums of shares are not exact: 0.3 is not exactly three times 0.1.
  const auto multiples = [share](double progress) { return std::floor(progress / share + 1e-9); };
  return now >= 1 || multiples(now) > multiples(before);
}

}  // namespace

int64_t MiningPlan::RoundsBy(const LoopState& state) const {
  if (every_share > 0) {
    return 1 + static_cast<int64_t>(std::floor(state.progress / every_share + 1e-9));
  }
  return every > 0 ? 1 + state.step / every : 0;
}

bool RunPlan::CheckpointDue(const LoopState& state) const {
  if (!by_progress) return CheckpointDue(state.step);
  if (checkpoint_share > 0) return Crossed(state.progress_before, state.progress, checkpoint_share);
  return state.progress >= 1 || (checkpoint_every > 0 && state.step % checkpoint_every == 0);
}

bool RunPlan::ValidationDue(const LoopState& state) const {
  if (!by_progress) return ValidationDue(state.step);
  if (validate_share > 0) return Crossed(state.progress_before, state.progress, validate_share);
  return validate_every > 0 && (state.progress >= 1 || state.step % validate_every == 0);
}

uint64_t LargestBatch(const sampling::Sampler& sampler) {
  const uint64_t batches = sampler.BatchesIn(1);
  return (sampler.QueriesIn(0) + batches - 1) / batches;
}

RunPlan WithSteps(RunPlan plan, int64_t steps) {
  if (steps != plan.steps) plan.batches.reset();  // the number for the run's own length
  plan.steps = steps;
  return plan;
}

RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler) {
  RunPlan plan{.keep_checkpoints = recipe.train.keep_checkpoints.value_or(2),
               .drops_checkpoints = !recipe.train.keep_checkpoints,
               .by_progress = !recipe.train.steps && !sampler.KnowsBatches()};
  if (recipe.train.steps) {
    plan.steps = *recipe.train.steps;
  } else {
    const int64_t batches = Batches(recipe.train, sampler), accumulate = recipe.train.accumulate;
    plan.steps = (batches + accumulate - 1) / accumulate;
    if (!plan.by_progress) plan.batches = batches;
  }
  const auto cadence = [&plan](const config::Quantity& every) {
    return every.IsZero() ? 0 : std::max<int64_t>(1, every.Of(plan.steps));
  };
  plan.warmup = recipe.schedule.warmup.Of(plan.steps);
  plan.checkpoint_every = cadence(recipe.train.checkpoint_every);
  if (recipe.validation.enabled()) {
    plan.validate_every = std::max<int64_t>(1, recipe.validation.every.Of(plan.steps));
  }
  if (recipe.mining.enabled()) plan.mining.every = cadence(*recipe.mining.every);
  if (plan.by_progress) {
    const auto share = [](const config::Quantity& every) {
      return every.share ? every.amount / 100 : 0;
    };
    plan.checkpoint_share = share(recipe.train.checkpoint_every);
    plan.validate_share = recipe.validation.enabled() ? share(recipe.validation.every) : 0;
    plan.mining.every_share = recipe.mining.enabled() ? share(*recipe.mining.every) : 0;
  }
  return plan;
}

}  // namespace tandem::train
