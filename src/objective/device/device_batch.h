// The batch of a device form, from the tensors of an objective.
#pragma once

#include "objective/catalogue.h"
#include "objective/device/device_form.h"
#include "objective/objective.h"

namespace tandem::objective {

// Takes scores where they are and moves masks and labels there. Throws as MakeBatchArrays does.
// `labels` and `bank` must outlive the batch.
DeviceBatch MakeDeviceBatch(const Scores& scores, const Labels& labels, const States& states,
                            const Needs& needs);

}  // namespace tandem::objective
