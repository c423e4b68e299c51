// What a search expects of configurations that it has not tried, from those that it has: Gaussian
// process regression (Rasmussen and Williams 2006, algorithm 2.1) with the kernel Likeness and
// fixed parameters, which few trials could not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tune/draw/configuration_points.h"

namespace tandem::tune {

// The values of a trial at each length that it reached, by its units. Empty: it cannot be trained.
using ValuesByLength = std::map<int64_t, double>;

// One number for each trial, comparable across lengths: its value at its longest length, less what
// trials that reached both had there more than at the shortest one, on average. A trial without a
// value has one standard deviation less than the least. Empty where no trial has a value.
std::vector<double> ComparableValues(const std::vector<ValuesByLength>& trials);

class Surrogate {
 public:
  // As many points as values, at least one, all finite.
  Surrogate(std::vector<ConfigurationPoint> points, const std::vector<double>& values);

  struct Expectation {
    double mean = 0;
    double deviation = 0;
  };
  Expectation At(const ConfigurationPoint& point) const;

 private:
  std::vector<double> Solve(std::vector<double> right) const;  // L x = right

  std::vector<ConfigurationPoint> points_;
  std::vector<std::vector<double>> factor_;  // lower Cholesky factor of kernel and noise
  std::vector<double> weights_;
  double mean_ = 0;
  double scale_ = 1;  // standard deviation of the values
};

// The candidate of which most is expected: the largest mean + 0.25 deviations; the first of equal
// ones. There is at least one.
size_t MostPromising(const Surrogate& surrogate, const std::vector<ConfigurationPoint>& candidates);

}  // namespace tandem::tune
