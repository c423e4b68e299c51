// Sums in double. The order of the additions depends on the number of terms only.
#pragma once

#include <cstdint>

namespace tandem::optim {

// term(0) + ... + term(count - 1). Sixteen partial sums are kept, because the processor can then
// add to them without waiting for the addition before.
template <typename Term>
double SumOf(int64_t count, Term term) {
  constexpr int64_t kSums = 16;
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t lane = 0; lane < kSums; ++lane) sums[lane] += term(i + lane);
  }
  for (; i < count; ++i) sums[0] += term(i);
  for (int64_t half = kSums / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

}  // namespace tandem::optim
