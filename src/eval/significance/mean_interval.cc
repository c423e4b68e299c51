#include "eval/significance/mean_interval.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace tandem::eval {

MeanSpread SpreadOf(std::span<const double> values, double confidence) {
  const auto n = static_cast<double>(values.size());
  MeanSpread spread{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n};
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.standard_deviation = std::sqrt(squares / (n - 1));
  const boost::math::students_t distribution(n - 1);
  const double t = boost::math::quantile(distribution, (1 + confidence) / 2);
  const double half = t * *spread.standard_deviation / std::sqrt(n);
  spread.interval = {spread.mean - half, spread.mean + half};
  return spread;
}

}  // namespace tandem::eval
