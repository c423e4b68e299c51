// What a trainer and its plan tell a person before the first step: data, batches, what is trained.
#pragma once

#include <string>

#include "train/setup/trainer.h"

namespace tandem::train {

// "an epoch trains 10 of 60 pairs: ...", with the key that changes it; "" where it trains all, or
// where the sampler chooses.
std::string PairsText(const Trainer& trainer);

// Where the warm-up is longer than the run, how far the learning rate gets; "" where it is not.
std::string WarmupText(const Trainer& trainer, const RunPlan& plan);

// Notes and warnings about a run that is set up, those of its earlier stages (input_notes.h)
// included.
void NoteWhatIsTrained(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
