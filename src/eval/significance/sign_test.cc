#include "eval/significance/sign_test.h"

#include <algorithm>
#include <cmath>

namespace tandem::eval {

double SignTestP(size_t gained, size_t lost) {
  const auto pairs = static_cast<double>(gained + lost);
  const auto fewer = std::min(gained, lost);
  double share = 0;
  for (size_t i = 0; i <= fewer; ++i) {
    const auto count = static_cast<double>(i);
    share += std::exp(std::lgamma(pairs + 1) - std::lgamma(count + 1) -
                      std::lgamma(pairs - count + 1) - pairs * std::log(2.0));
  }
  return std::min(1.0, 2 * share);
}

}  // namespace tandem::eval
