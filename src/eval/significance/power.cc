#include "eval/significance/power.h"

#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace tandem::eval {

std::optional<size_t> QueriesNeeded(double effect_size, double level) {
  constexpr double kPower = 0.8;  // the field's usual one (Cohen 1988)
  constexpr double kMost = 1e9;
  const boost::math::normal normal;
  const double z_level = boost::math::quantile(normal, 1 - level / 2);
  const double z = (z_level + boost::math::quantile(normal, kPower)) / effect_size;
  const double queries = std::ceil(z * z + z_level * z_level / 2);
  if (!(queries <= kMost)) return std::nullopt;
  return static_cast<size_t>(queries);
}

}  // namespace tandem::eval
