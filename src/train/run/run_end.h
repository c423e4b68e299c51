// The end of a run: the model that it leaves, and the last line of its metrics.
#pragma once

#include "train/observers/line_log.h"
#include "train/observers/validation_observer.h"
#include "train/run/loop_state.h"
#include "train/run/run_folder.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// Saves the best weights as the run's model, and then writes the line that says so as the last one
// of metrics.jsonl. So where a run ends with this line, the saved model is that of this end, not of
// an earlier end after which the run became longer. `validation` is what the run's validations
// found; null: it has none.
void SaveModel(const Trainer& trainer, const RunFolder& folder, const LoopState& state,
               const ValidationState* validation, LineLog& metrics);

// Whether the run has come to its end at its last checkpoint and its model is written.
bool IsFinished(const RunFolder& folder);

}  // namespace tandem::train
