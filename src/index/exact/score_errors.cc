#include "index/exact/score_errors.h"

#include <cmath>
#include <limits>

namespace tandem::index {

float RoundedUp(double value) {
  const auto rounded = static_cast<float>(value);
  return rounded >= value ? rounded
                          : std::nextafter(rounded, std::numeric_limits<float>::infinity());
}

double SumError(size_t width) {
  constexpr double kFurtherOperations = 16;
  return 2 * (static_cast<double>(width) + kFurtherOperations) * 0x1p-24;
}

double VanishingError(size_t width) {
  return 2 * (static_cast<double>(width) + 1) * std::numeric_limits<float>::denorm_min();
}

ScoreBound BoundOf(size_t width, double lengths, double error) {
  const float offset = RoundedUp(error + SumError(width) * (lengths + error));
  return {.factor = 1, .span = 2 * offset, .slack = VanishingError(width)};
}

}  // namespace tandem::index
