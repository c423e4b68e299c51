// The validation that a recipe asks for.
#pragma once

#include <memory>

#include "train/objective/training_objective.h"
#include "train/setup/run_inputs.h"
#include "train/validation/validator.h"

namespace tandem::train {

// For a run's data and model. `inputs` and `objective` must outlive the validator; null where the
// recipe has no validation.
std::unique_ptr<Validator> MakeValidator(const RunInputs& inputs,
                                         const TrainingObjective& objective);

}  // namespace tandem::train
