// Checks that all processes of a group are set up for the same training: program, recipe, data and
// base model.
#pragma once

#include <string>

#include "train/setup/run_inputs.h"

namespace tandem::train {

// Compares this process's inputs with those of the other processes. If something differs from rank
// 0, every process throws an error that names it and the rank: UsageError for the program's
// version, its instruction sets or the recipe, DataError for the data, ModelError for the base
// model or the adapters.
void AgreeOnRun(const RunInputs& inputs, const std::string& version);

}  // namespace tandem::train
