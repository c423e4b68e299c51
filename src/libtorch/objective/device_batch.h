// The batch of a device form, from the tensors of an objective.
#pragma once

#include "libtorch/objective/batch_form.h"
#include "objective/catalogue.h"
#include "objective/objective.h"

namespace tandem::libtorch {

// Takes scores where they are and moves masks and labels there. Throws as MakeBatchArrays does.
// `labels` and `bank` must outlive the batch.
DeviceBatch MakeDeviceBatch(const objective::Scores& scores, const objective::Labels& labels,
                            const objective::States& states, const objective::Needs& needs);

}  // namespace tandem::libtorch
