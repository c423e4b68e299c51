// Compares the recipe of a resumed run with the one that the run folder records: it is the same
// recipe, or that of a longer run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/run/run_folder.h"
#include "train/setup/trainer.h"

namespace tandem::train {

struct Continuation {
  std::optional<int64_t> checkpoint;  // to go on from; none: from the start
  bool extended = false;              // the run becomes longer than the folder records
  // The trainer's recipe and plan, in which what a recipe gives as a share of the run stays the
  // number of steps that it was.
  config::LoadedRecipe loaded;
  RunPlan plan;
};

// Compares the recipe of `trainer` with the one that `folder` records, where there is a record, and
// returns how the run goes on.
//
// A user may make a run longer by train.steps or train.epochs, if its schedule gives the steps that
// were made the same learning rates in the longer run: the schedule `constant`. What the recipe
// gives as a share of the run's steps (warm-up, checkpoints, validation) keeps its number of steps.
// The run then writes the same bytes as a run that had these
// numbers and this length from its start. A checkpoint may hold what happened only because the run
// ended there (a line of metrics, a validation, a last step of fewer batches). The run then goes on
// from the checkpoint before it, or, where that one is gone, from the last one, with a warning.
//
// Throws RecipeError where the recipe differs in a key that may not change, where the run would
// become shorter, where earlier steps would have had other rates, and where the run has stopped
// early: the longer run would have stopped there too.
//
// In a group `record` is the text of the folder's recipe as rank 0 reads it, none where it has
// none; the folder's checkpoints are looked at by rank 0 alone, whose continuation counts for all.
// Another number of processes may have another number of threads.
Continuation CompareWithRecord(const Trainer& trainer, const RunFolder& folder,
                               const std::optional<std::string>& record);

// Removes the checkpoints after the one that the run goes on from.
void ForgetEnd(const RunFolder& folder, const Continuation& continuation);

}  // namespace tandem::train
