// The operands of the products in products.h, and the products whose factors are not packed.
#pragma once

#include <cstdint>

namespace tandem::tensor::cpu {

enum class Type { kFloat, kBf16 };

struct ConstMatrix {
  const void* data;
  int64_t stride;  // elements from one row to the next
};

struct Matrix {
  void* data;
  int64_t stride;
};

// sum [m, n] float, without gaps, = or (`add`) += a^T b for a [depth, m] and b [depth, n], both of
// `type`: the gradient of a weight.
struct WeightGradient {
  ConstMatrix a;
  ConstMatrix b;
  int64_t depth;
  int64_t m;
  int64_t n;
  Type type;
  float* sum;
  bool add;
};

// out [m, n] = a [m, depth] * b [n, depth]^T, all float, without gaps: scores of queries against
// documents.
struct RowsByRows {
  const float* a;
  int64_t m;
  const float* b;
  int64_t n;
  int64_t depth;
  float* out;
};

}  // namespace tandem::tensor::cpu
