#include "train/plan.h"

#include <algorithm>
#include <cmath>

namespace tandem::train {
namespace {

int64_t Steps(const config::TrainRecipe& recipe, const sampling::Sampler& sampler) {
  if (recipe.steps) return *recipe.steps;
  const auto batches = static_cast<int64_t>(sampler.BatchesIn(recipe.epochs.value_or(1)));
  return std::max<int64_t>(1, (batches + recipe.accumulate - 1) / recipe.accumulate);
}

// Whether a step from progress `before` to `now` got to a multiple of `share`, or to the end.
bool Crossed(double before, double now, double share) {
  // Sums of shares are not exact: 0.3 is three times 0.1.
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

RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler) {
  RunPlan plan{.steps = Steps(recipe.train, sampler),
               .keep_checkpoints = recipe.train.keep_checkpoints,
               .by_progress = !recipe.train.steps && !sampler.KnowsBatches()};
  const auto cadence = [&plan](const config::Quantity& every) {
    return every.IsZero() ? 0 : std::max<int64_t>(1, every.Of(plan.steps));
  };
  plan.warmup = std::min(plan.steps, recipe.schedule.warmup.Of(plan.steps));
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
