// The constant factor of a product before it is packed.
#pragma once

#include <cstddef>

namespace tandem::tensor::cpu {

// B [depth, columns]: B(k, n) is source[k * depth_stride + n * column_stride]. One of the strides
// must be 1.
struct FloatFactor {
  const float* source;
  size_t depth_stride;
  size_t column_stride;
  size_t depth;
  size_t columns;
};

}  // namespace tandem::tensor::cpu
