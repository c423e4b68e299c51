// Gives the calibration of a loaded model, which turns scores into probabilities.
#pragma once

#include <optional>
#include <string>

#include "commands/model/model_flags.h"
#include "model/dual_encoder.h"
#include "weights/settings/calibration.h"

namespace tandem::app {

// Returns the model's calibration; none if it has none, and, with a warning, if it is for scores of
// another similarity than the model's. Warns if the prompt or lengths of `flags` lead to other
// scores than those that it was fitted to. It is used nevertheless, because the scores are still
// those of the same texts.
std::optional<weights::Calibration> CalibrationOf(const model::DualEncoder& model,
                                                  const ModelFlags& flags);

// Throws UsageError for a --min-probability outside of [0, 1].
void CheckIsProbability(std::optional<double> min_probability);

// Returns the least probability of hits: what is asked for, else the index's own. 0 is none, so
// that a search can do without the index's.
std::optional<double> LeastProbability(std::optional<double> asked, std::optional<double> of_index);

// Throws UsageError if nobody asks for a least probability, the index has one, and the model of
// this folder has no calibration.
void CheckIndexProbability(const std::optional<weights::Calibration>& calibration,
                           std::optional<double> asked, std::optional<double> of_index,
                           const std::string& folder);

// Throws UsageError if a minimum probability is given and the model of this folder has no
// calibration.
void CheckProbabilities(const std::optional<weights::Calibration>& calibration,
                        std::optional<double> min_probability, const std::string& folder);

}  // namespace tandem::app
