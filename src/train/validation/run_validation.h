// Makes the validation that a recipe asks for.
#pragma once

#include <memory>

#include "train/objective/training_objective.h"
#include "train/setup/run_inputs.h"
#include "train/validation/validator.h"

namespace tandem::train {

// Makes the validator for a run's data and model; null if the recipe has no validation. `inputs`
// and `objective` must outlive it.
std::unique_ptr<Validator> MakeValidator(const RunInputs& inputs,
                                         const TrainingObjective& objective);

// The one that ranks documents. The recipe of `run` has a validation by a measure. `data` must
// outlive it.
std::unique_ptr<Validator> MakeRankingValidator(const RunData& data, const ResolvedRun& run,
                                                const model::DualEncoder& model);

}  // namespace tandem::train
