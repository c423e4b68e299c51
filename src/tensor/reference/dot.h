// The inner product of the reference loops.
#pragma once

#include <cstdint>

namespace tandem::tensor::loops {

// The sum of a[i] b[i] over `size` numbers, in double. Eight partial sums in a fixed order let the
// compiler use vectors.
template <typename T>
double Dot(const T* a, const T* b, int64_t size) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= size; i += kSums) {
    for (int64_t s = 0; s < kSums; ++s) {
      sums[s] += static_cast<double>(a[i + s]) * static_cast<double>(b[i + s]);
    }
  }
  double sum = 0;
  for (; i < size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double part : sums) sum += part;
  return sum;
}

// to[i] += factor from[i] for `size` numbers.
template <typename T>
void AddTimes(double factor, const T* from, int64_t size, double* to) {
  for (int64_t i = 0; i < size; ++i) to[i] += factor * static_cast<double>(from[i]);
}

}  // namespace tandem::tensor::loops
