// What a setup tells a person before the first step: data, batches, what is trained.
#pragma once

#include <cstdint>

#include "train/setup.h"

namespace tandem::train {

// Queries of the first pass's batches: where their number alone limits them, some have one less;
// else it is their mean, rounded up.
uint64_t LargestBatch(const Setup& setup);

// Notes and warnings about a setup that is complete.
void NoteWhatIsTrained(const Setup& setup);

}  // namespace tandem::train
