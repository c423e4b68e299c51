// softplus(x) = log(1 + e^x) and its slope, the logistic function, from one exponential.
#pragma once

#include <algorithm>
#include <cmath>

namespace tandem::objective {

struct Softplus {
  double value = 0;
  double slope = 0;
};

// Exact up to rounding for every x, infinities included: e^-|x| never overflows, and log1p keeps
// its digits where it is small. (libtorch's own softplus is x itself above 20.) NaN gives NaN.
inline Softplus SoftplusOf(double x) {
  const double e = std::exp(-std::fabs(x));
  return {std::max(x, 0.0) + std::log1p(e), (x >= 0 ? 1.0 : e) / (1.0 + e)};
}

}  // namespace tandem::objective
