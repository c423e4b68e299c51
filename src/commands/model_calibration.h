// The probabilities of a model that is loaded.
#pragma once

#include <optional>
#include <string>

#include "commands/model_flags.h"
#include "model/dual_encoder.h"
#include "weights/settings/calibration.h"

namespace tandem::app {

// The model's calibration; none where it has none, and, with a warning, where that is for scores of
// another similarity than the model's. Warns where prompt or lengths of `flags` make other scores
// than those that it was fitted to: they still are those of the same texts, so that it is used.
std::optional<weights::Calibration> CalibrationOf(const model::DualEncoder& model,
                                                  const ModelFlags& flags);

// Throws UsageError where a least probability is asked of a model, of this folder, that has no
// calibration.
void CheckProbabilities(const std::optional<weights::Calibration>& calibration,
                        std::optional<double> min_probability, const std::string& folder);

}  // namespace tandem::app
