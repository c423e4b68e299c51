// How long a run's steps take, before it is begun.
#pragma once

#include <cstdint>

#include "base/process/interrupt.h"
#include "config/recipe/recipe_parse.h"
#include "dist/process_group.h"

namespace tandem::train {

struct RunCost {
  double setup_seconds = 0;  // reading model and data, and making token ids
  double step_seconds = 0;   // the mean of those that were timed
  int64_t steps = 0;         // of the whole run
};

// Makes the run's trainer, one step to warm up and `timed_steps` more, at least 1, whose results
// are thrown away. Nothing is written but the cache. Throws what a run would; Interrupted where
// `stop` asks for it.
RunCost MeasureRunCost(config::LoadedRecipe loaded, int64_t timed_steps, const StopRequest& stop,
                       dist::ProcessGroup* group);

}  // namespace tandem::train
