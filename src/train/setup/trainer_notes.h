// Tells a person before the first step about a run's data and batches and about what is trained.
#pragma once

#include <string>

#include "train/setup/trainer.h"

namespace tandem::train {

// Returns "an epoch trains 10 of 60 pairs: ...", with the key that changes it; "" if an epoch
// trains all pairs, or if the sampler chooses them.
std::string PairsText(const Trainer& trainer);

// Says how far the learning rate gets if the warm-up is longer than the run; "" if it is not.
std::string WarmupText(const Trainer& trainer, const RunPlan& plan);

// Gives the notes and warnings about a run that is set up, including those of its earlier stages
// (input_notes.h).
void NoteWhatIsTrained(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
