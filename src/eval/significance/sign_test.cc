#include "eval/significance/sign_test.h"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

namespace tandem::eval {

double SignTestP(size_t gained, size_t lost) {
  const boost::math::binomial outcomes(static_cast<double>(gained + lost), 0.5);
  return std::min(1.0, 2 * boost::math::cdf(outcomes, static_cast<double>(std::min(gained, lost))));
}

}  // namespace tandem::eval
