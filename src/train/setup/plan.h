// Plans how long a run is and at which steps it validates, saves and mines.
#pragma once

#include <cstdint>
#include <optional>

#include "config/recipe/recipe.h"
#include "sampling/sampler.h"
#include "train/run/loop_state.h"

namespace tandem::train {

// When a run mines negatives.
struct MiningPlan {
  int64_t every = 0;       // steps from one round to the next; 0: no mining
  double every_share = 0;  // replaces `every` if the number of steps is not known; 0: `every` holds

  // Returns how many rounds must be done before the step after `state` is made: one before the
  // first step, then one after each interval.
  int64_t RoundsBy(const LoopState& state) const;
};

// The plan counts in steps if their number is known in advance. The number is not known if the
// length of the run is given by `train.epochs` and the length of the sampler's epochs depends on
// training. The run then ends when its epochs are done, and whatever the recipe gives as a share of
// the run is due when the run's progress reaches it.
struct RunPlan {
  int64_t steps = 1;  // an estimate where `by_progress`
  int64_t warmup = 0;
  int64_t checkpoint_every = 0;     // 0: only at the end
  int64_t validate_every = 0;       // 0: never
  bool validates_by_share = false;  // `validate_every` was given as a share of the run
  int64_t keep_checkpoints = 2;     // at least 1
  // A finished run drops the checkpoints from which no longer run would go on. The recipe does not
  // say how many stay.
  bool drops_checkpoints = false;
  // Number of batches of the whole run, if `train.epochs` gives its length and the number is known:
  // the last step has the batches that are left for it, at most `train.accumulate`. None: every
  // step has all of its batches, or the run ends with its epochs.
  std::optional<int64_t> batches;
  bool by_progress = false;
  // Shares of the run that replace the numbers of steps above if `by_progress`; 0: the recipe gives
  // no share.
  double checkpoint_share = 0;
  double validate_share = 0;
  MiningPlan mining;

  // For runs whose number of steps is known.
  bool CheckpointDue(int64_t step) const {
    return step == steps || (checkpoint_every > 0 && step % checkpoint_every == 0);
  }
  // The last step validates. Where the interval was given as a share, a multiple of it that is
  // nearer to the last step than a quarter of the interval does not: it would say what the last
  // step says.
  bool ValidationDue(int64_t step) const;
  // Whether a checkpoint or a validation is due after the step that led to `state`.
  bool CheckpointDue(const LoopState& state) const;
  bool ValidationDue(const LoopState& state) const;
  // The number of validations that are due after steps yet to come, if patience does not end the
  // run. A bound from above where `by_progress` and the interval is in steps: `steps` is an
  // estimate then.
  int64_t ValidationsAfter(const LoopState& state) const;
  // The step of the multiple that is left out; none if there is none. For runs whose number of
  // steps is known.
  std::optional<int64_t> LeftOutValidation() const;
};

// Returns the mean number of queries in the batches of the first epoch, rounded up. If only the
// number of queries limits the batches, this is the size of the largest one, and some batches have
// one query less.
uint64_t LargestBatch(const sampling::Sampler& sampler);

// Converts the recipe's epochs to steps, and its shares of the run ("10%") to numbers of steps, at
// least one for an interval. The interval of validations is rounded up, so that there are no more
// of them than the share says.
RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler);

// Returns the plan of a run of so many steps instead; everything else stays the same.
RunPlan WithSteps(RunPlan plan, int64_t steps);

}  // namespace tandem::train
