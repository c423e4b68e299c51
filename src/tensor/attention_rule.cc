#include "tensor/attention_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tandem::tensor {

int64_t RelativeBucket(int64_t distance, int64_t buckets, int64_t max_distance) {
  // transformers computes the logarithms in float, and so do we: a range's end may depend on it.
  const int64_t half = buckets / 2, exact = half / 2;
  const int64_t first = distance > 0 ? half : 0;
  const int64_t size = std::abs(distance);
  if (size < exact) return first + size;
  const float place =
      std::log(static_cast<float>(size) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact))) *
      static_cast<float>(half - exact);
  return first + std::min(exact + static_cast<int64_t>(place), half - 1);
}

}  // namespace tandem::tensor
