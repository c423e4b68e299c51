#include "train/setup/plan.h"

#include <algorithm>
#include <cmath>

namespace tandem::train {
namespace {

// Returns the number of batches in the epochs that the recipe gives.
int64_t Batches(const config::TrainRecipe& recipe, const sampling::Sampler& sampler) {
  return std::max<int64_t>(1, static_cast<int64_t>(sampler.BatchesIn(recipe.epochs.value_or(1))));
}

// A regular validation that is nearer to the end than this part of an interval is left out.
constexpr double kNearEnd = 0.25;

// Sums of shares are not exact: 0.3 is not exactly three times 0.1.
int64_t Multiples(double progress, double share) {
  return static_cast<int64_t>(std::floor(progress / share + 1e-9));
}

// Whether the step from progress `before` to `now` reached a multiple of `share`, or the end.
bool Crossed(double before, double now, double share) {
  return now >= 1 || Multiples(now, share) > Multiples(before, share);
}

// The number of multiples of `share` below the end that validate.
int64_t RegularValidations(double share) {
  const int64_t below = Multiples(1, share);
  const double rest = 1 - static_cast<double>(below) * share;  // from the last multiple to the end
  return rest < kNearEnd * share ? below - 1 : below;
}

int64_t ValidateEvery(const config::Quantity& every, int64_t steps) {
  if (!every.share) return std::max<int64_t>(1, every.Of(steps));
  const double exact = static_cast<double>(steps) * every.amount / 100;
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(exact - 1e-9)));
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
  if (validate_share > 0) {
    return state.progress >= 1 ||
           (Crossed(state.progress_before, state.progress, validate_share) &&
            Multiples(state.progress, validate_share) <= RegularValidations(validate_share));
  }
  return validate_every > 0 && (state.progress >= 1 || state.step % validate_every == 0);
}

bool RunPlan::ValidationDue(int64_t step) const {
  if (validate_every <= 0) return false;
  return step == steps || (step % validate_every == 0 && step != LeftOutValidation());
}

std::optional<int64_t> RunPlan::LeftOutValidation() const {
  if (!validates_by_share || validate_every <= 0) return std::nullopt;
  const int64_t rest = steps % validate_every;  // from the last multiple to the end
  const bool near = rest > 0 && steps > validate_every &&
                    static_cast<double>(rest) < kNearEnd * static_cast<double>(validate_every);
  return near ? std::optional(steps - rest) : std::nullopt;
}

int64_t RunPlan::ValidationsAfter(const LoopState& state) const {
  if (validate_every <= 0 || (by_progress ? state.progress >= 1 : state.step >= steps)) return 0;
  if (by_progress && validate_share > 0) {
    const int64_t regular = RegularValidations(validate_share);
    return 1 + std::max<int64_t>(0, regular - Multiples(state.progress, validate_share));
  }
  const int64_t last = std::max(steps, state.step + 1) - 1;  // the last before the end
  int64_t regular = last / validate_every - state.step / validate_every;
  if (!by_progress && LeftOutValidation() > state.step) --regular;
  return 1 + regular;
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
    plan.validate_every = ValidateEvery(recipe.validation.every, plan.steps);
    plan.validates_by_share = recipe.validation.every.share;
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
