// How a resumed run's recipe stands to the one that the run folder records: the same, or of a
// longer run.
#pragma once

#include <cstdint>
#include <optional>

#include "train/run_folder.h"
#include "train/setup.h"

namespace tandem::train {

struct Continuation {
  std::optional<int64_t> checkpoint;  // to go on from; none: from the start
  bool extended = false;              // the run becomes longer than the folder records
};

// Compares `setup` with the recipe that `folder` records, if it got that far, and says where to go
// on.
//
// A run may be made longer by train.steps or train.epochs where its schedule gives the steps that
// are made already the rates that they had: `constant`. What the recipe gives as a share of the
// run's steps (warm-up, checkpoints, validation) keeps its number of steps, in setup.loaded and
// setup.plan too, so that the run ends in the bytes of one that was given these numbers and this
// length at its start. Where a checkpoint holds what happened only because the run ended there (a
// line of metrics, a validation), the run goes on from the checkpoint before; where that is gone,
// from the last one, which a warning says.
//
// Throws RecipeError where the recipe differs in what may not change, where the run would become
// shorter, where its rates would have been others, and where it has stopped early: the longer one
// would have stopped there too.
Continuation CompareWithRecord(Setup& setup, const RunFolder& folder);

// Removes what belongs to the run's former end: the checkpoints behind the one to go on from.
void ForgetEnd(const RunFolder& folder, const Continuation& continuation);

}  // namespace tandem::train
