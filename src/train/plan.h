// How long a run is and when something happens in it, in steps.
#pragma once

#include <cstdint>

#include "config/recipe.h"
#include "sampling/sampler.h"

namespace tandem::train {

struct RunPlan {
  int64_t steps = 1;
  int64_t warmup = 0;
  int64_t checkpoint_every = 0;  // 0: only at the end
  int64_t validate_every = 0;    // 0: never
  int64_t keep_checkpoints = 2;  // at least 1

  bool CheckpointDue(int64_t step) const {
    return step == steps || (checkpoint_every > 0 && step % checkpoint_every == 0);
  }
  bool ValidationDue(int64_t step) const {
    return validate_every > 0 && (step == steps || step % validate_every == 0);
  }
};

// Turns the recipe's epochs into steps, and its shares of the run ("10%") into numbers of steps, at
// least one for a cadence.
RunPlan MakePlan(const config::Recipe& recipe, const sampling::Sampler& sampler);

}  // namespace tandem::train
