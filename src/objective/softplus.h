// softplus(x) = log(1 + e^x) and its slope, the logistic function, from one exponential.
#pragma once

#include <algorithm>
#include <cmath>

namespace tandem::objective {

// Above this, softplus(x) is taken as x and its slope as 1. That is libtorch's softplus, by which
// the reference vectors of all logistic losses are made; log(1 + e^x) itself is larger by e^-x, at
// most 2.1e-9, a share of 1e-10 of the value, and its slope smaller by as much.
inline constexpr double kSoftplusLinearFrom = 20;

struct Softplus {
  double value = 0;
  double slope = 0;
};

inline Softplus SoftplusOf(double x) {
  const double e = std::exp(-std::fabs(x));
  const double rest = x > kSoftplusLinearFrom ? 0 : e;
  return {std::max(x, 0.0) + std::log1p(rest), (x >= 0 ? 1.0 : e) / (1.0 + rest)};
}

}  // namespace tandem::objective
