// Decides which hits of a search are good enough to be shown.
#pragma once

#include <optional>

#include "weights/settings/calibration.h"

namespace tandem::index {

struct HitFilter {
  std::optional<double> min_score;
  std::optional<double> min_probability;              // needs a calibration
  const weights::Calibration* calibration = nullptr;  // of the model; null: it has none

  bool active() const { return min_score || min_probability; }
  // Returns none where the model has no calibration.
  std::optional<double> Probability(double score) const {
    return calibration != nullptr ? std::optional(calibration->Probability(score)) : std::nullopt;
  }
  // Equal is enough. Models score in single precision: what is printed as 0.41 is kept by 0.41.
  bool Keeps(float score) const {
    if (min_score && score < static_cast<float>(*min_score)) return false;
    return !min_probability || Probability(score) >= min_probability;
  }
};

}  // namespace tandem::index
