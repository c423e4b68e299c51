// The relative bias of attention (ops.h) as its kernels read it, and its gradient.
#pragma once

#include <cstdint>

#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/attention/general_attention.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// The bias of each head as a vector over distances, for texts of at most `longest` tokens.
class BiasByDistance {
 public:
  BiasByDistance() = default;
  // table: float [buckets, heads]; undefined: no bias.
  BiasByDistance(const Tensor& table, int64_t max_distance, int64_t longest);

  cpu::DistanceBias ForKernels() const;
  // Gradients by [texts, heads, buckets], in double, as the table's, float [buckets, heads]. Sums
  // over texts in their order.
  static Tensor TableGradient(const Tensor& by_text);

 private:
  Tensor values_;   // float [heads, distances and padding]
  Tensor buckets_;  // int32 [distances]
  int64_t bucket_count_ = 0;
};

}  // namespace tandem::tensor
