// What a setup tells a person before the first step: data, batches, what is trained.
#pragma once

#include <cstdint>
#include <string>

#include "train/setup/setup.h"

namespace tandem::train {

// Queries of the first pass's batches: where their number alone limits them, some have one less;
// else it is their mean, rounded up.
uint64_t LargestBatch(const Setup& setup);

// "an epoch trains 10 of 60 pairs: ...", with the key that changes it; "" where it trains all, or
// where the sampler chooses.
std::string PairsText(const Setup& setup);

// Where the warm-up is longer than the run, how far the learning rate gets; "" where it is not.
std::string WarmupText(const Setup& setup);

// Notes and warnings about a setup that is complete.
void NoteWhatIsTrained(const Setup& setup);

}  // namespace tandem::train
