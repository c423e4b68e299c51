// Sums over the data that both fits of eval/calibration/calibration.h need. Internal to the room.
#pragma once

#include <span>

#include "eval/calibration/calibration.h"

namespace tandem::eval {

struct LabelledSums {
  double positives = 0;  // weight of label 1
  double negatives = 0;  // weight of label 0
};

// Throws DataError where either is 0, NumericError for a score that is not finite, and
// std::logic_error for a label or weight that no caller should give.
LabelledSums SumLabels(std::span<const LabelledScore> labelled);

}  // namespace tandem::eval
