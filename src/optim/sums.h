// Sums in double, in an order that depends on nothing but their length.
#pragma once

#include <cstdint>

namespace tandem::optim {

// term(0) + ... + term(count - 1), in four sums, so that additions do not wait for each other.
template <typename Term>
double SumOf(int64_t count, Term term) {
  double sums[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) sums[lane] += term(i + lane);
  }
  for (; i < count; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace tandem::optim
