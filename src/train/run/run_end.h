// Ends a run: saves its model and writes the last line of its metrics.
#pragma once

#include <string>

#include "train/observers/line_log.h"
#include "train/observers/validation_observer.h"
#include "train/run/loop_state.h"
#include "train/run/run_folder.h"
#include "train/setup/plan.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// Saves the best weights as the run's model, and then writes the line that says so as the last line
// of metrics.jsonl. If a run's metrics end with this line, the saved model therefore is that of
// this end, not of an earlier end after which the run became longer. `validation` has the results
// of the run's validations; null: the run has none.
void SaveModel(const Trainer& trainer, const RunFolder& folder, const LoopState& state,
               const ValidationState* validation, LineLog& metrics);

// Saves the model so far of a run that was interrupted and whose checkpoint is saved, as SaveModel
// does, but writes no line: the run is not finished, which the model's folder says. The loop must
// not go on afterwards, because the best weights take the place of the last ones. Returns what to
// add to the message of the interruption: which model it is, or why it could not be written; "" if
// there is none yet.
std::string SaveStoppedModel(const Trainer& trainer, const RunFolder& folder,
                             const LoopState& state, const RunPlan& plan,
                             const ValidationState* validation);

// Drops the checkpoints of a finished run from which no longer run would go on, unless its recipe
// says how many stay. Its model has the best weights. Throws OutputError.
void DropCheckpoints(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder);

// Whether the run ended at its last checkpoint and has written its model.
bool IsFinished(const RunFolder& folder);

}  // namespace tandem::train
