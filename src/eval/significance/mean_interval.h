// The mean of a few values, how they spread, and how well the mean is known: runs of one recipe
// under several seeds.
#pragma once

#include <optional>
#include <span>

#include "eval/significance/bootstrap.h"

namespace tandem::eval {

struct MeanSpread {
  double mean = 0;
  // With n - 1. None for one value.
  std::optional<double> standard_deviation;
  // Student's interval of the mean, mean ± t sd / √n with n - 1 degrees of freedom (Student 1908):
  // it holds where the values come from a normal distribution. A bootstrap of three values would be
  // too narrow. None for one value.
  std::optional<Interval> interval;
};

// `values` holds at least one number; `confidence` is above 0 and below 1.
MeanSpread SpreadOf(std::span<const double> values, double confidence = 0.95);

}  // namespace tandem::eval
