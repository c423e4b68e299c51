// Says whether the processes of a group would train the same: program, recipe, data and base.
#pragma once

#include <string>

#include "train/setup/run_inputs.h"

namespace tandem::train {

// Compares what this process has read with what the others have. Throws on every process where
// something differs from rank 0, naming it and the rank: UsageError for the program's version, its
// instruction sets and the recipe, DataError for the data, ModelError for base or adapters.
void AgreeOnRun(const RunInputs& inputs, const std::string& version);

}  // namespace tandem::train
