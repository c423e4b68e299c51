// Compares the recipe of a resumed run with the recipe that the run folder records. It must be the
// same recipe, or the recipe of a longer run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/run/run_folder.h"
#include "train/setup/trainer.h"

namespace tandem::train {

struct Continuation {
  std::optional<int64_t> checkpoint;  // the run resumes from it; none: it starts at step 0
  bool extended = false;              // the run becomes longer than the folder's record says
  // The trainer's recipe and plan. A value that the recipe gives as a share of the run keeps the
  // number of steps that it had in the recorded run.
  config::LoadedRecipe loaded;
  RunPlan plan;
};

// Compares the recipe of `trainer` with the one that `folder` records, if there is a record, and
// returns how the run continues.
//
// A user may make a run longer by train.steps or train.epochs if its schedule gives the steps that
// are done the same learning rates in the longer run, as `constant` does. Values that the recipe
// gives as shares of the run's steps (warm-up, checkpoints, validation) keep their numbers of
// steps. The run then writes the same bytes as a run that had these numbers and this length from
// its start. The last checkpoint may include events that happened only because the run ended there
// (a line of metrics, a validation, a last step of fewer batches). The run then continues from the
// checkpoint before it or, if that one is gone, from the last one, with a warning.
//
// Throws RecipeError if the recipe differs in a key that may not change, if the run would become
// shorter, if earlier steps would have had other learning rates, or if the run was stopped early:
// the longer run would have stopped there too.
//
// In a group, `record` is the text of the folder's recipe as rank 0 reads it; none if the folder
// has no recipe. Only rank 0 looks at the folder's checkpoints, and its continuation counts for
// all. A different number of processes may use a different number of threads.
Continuation CompareWithRecord(const Trainer& trainer, const RunFolder& folder,
                               const std::optional<std::string>& record);

// Returns the checkpoint of a finished run from which it would go on if it became longer. None if
// no recipe can make it longer, because of its schedule, its sampler, or because it was stopped
// early.
std::optional<int64_t> StartOfLongerRun(const Trainer& trainer, const RunPlan& plan,
                                        const RunFolder& folder);

// Removes the checkpoints after the one from which the run continues.
void ForgetEnd(const RunFolder& folder, const Continuation& continuation);

}  // namespace tandem::train
