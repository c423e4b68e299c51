// How long a run is and when something happens in it.
#pragma once

#include <cstdint>
#include <optional>

#include "config/recipe/recipe.h"
#include "sampling/sampler.h"
#include "train/run/loop_state.h"

namespace tandem::train {

// When a run mines negatives.
struct MiningPlan {
  int64_t every = 0;       // steps from one round to the next; 0: nothing is mined
  double every_share = 0;  // stands instead where the number of steps is not known; 0: `every`

  // How many rounds there have been when the step after `state` is made: one before the first step,
  // then one every so often.
  int64_t RoundsBy(const LoopState& state) const;
};

// In steps, where their number is known ahead. Where it is not (an order whose passes follow from
// what training sees, and `train.epochs`), the run ends when its passes are done, and what the
// recipe gives as a share of the run is due when the run's progress gets to it.
struct RunPlan {
  int64_t steps = 1;  // an estimate where `by_progress`
  int64_t warmup = 0;
  int64_t checkpoint_every = 0;  // 0: only at the end
  int64_t validate_every = 0;    // 0: never
  int64_t keep_checkpoints = 2;  // at least 1
  // Batches of the whole run, where `train.epochs` counts them and they are known: the last step
  // has what is left for it, at most `train.accumulate`. None: every step has all of its batches,
  // or the run's passes say when it ends.
  std::optional<int64_t> batches;
  bool by_progress = false;
  // With `by_progress`: shares of the run that stand instead of the numbers of steps above; 0:
  // none.
  double checkpoint_share = 0;
  double validate_share = 0;
  MiningPlan mining;

  // Where the number of steps is known.
  bool CheckpointDue(int64_t step) const {
    return step == steps || (checkpoint_every > 0 && step % checkpoint_every == 0);
  }
  bool ValidationDue(int64_t step) const {
    return validate_every > 0 && (step == steps || step % validate_every == 0);
  }
  // After the step that led to `state`.
  bool CheckpointDue(const LoopState& state) const;
  bool ValidationDue(const LoopState& state) const;
};

// Queries of the first pass's batches: where their number alone limits them, some have one less;
// else it is their mean, rounded up.
uint64_t LargestBatch(const sampling::Sampler& sampler);

// Turns the recipe's epochs into steps, and its shares of the run ("10%") into numbers of steps, at
// least one for a cadence.
RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler);

// The plan of a run that is cut to so many steps; everything else in it stays.
RunPlan WithSteps(RunPlan plan, int64_t steps);

}  // namespace tandem::train
