// Normalisation of rows that a layer reads, and sums of a layer's branch with its residual. One
// thread works on `rows` rows of `width` channels, a multiple of 16 and at most kMaxWidth, as in
// rows.h.
#pragma once

#include <cstddef>

#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::tensor::cpu {

// A row's normalisation: (x - mean) / deviation * gamma + beta.
struct RowNorm {
  const float* gamma = nullptr;  // [width]; null: there is no normalisation, rows stay as they are
  const float* beta = nullptr;   // [width], or null: none
  float epsilon = 0;             // added to the variance, or to the mean of squares
  // Says whether the mean is subtracted (layer normalisation). Otherwise it counts as 0, and the
  // deviation is the root of the mean of squares.
  bool centred = true;
};

// The statistics of each row, [rows] each; null: not wanted.
struct RowStatistics {
  float* mean = nullptr;  // 0 where the norm is not centred
  float* inverse_deviation = nullptr;
};

// out = residual + dropout(norm(x)). The statistics of a row are those of its values in `x`.
template <typename A>
struct NormForward {
  const A* x;  // [rows, width]
  RowNorm norm;
  RowDropout dropout;
  const A* residual;  // [rows, width], or null: none
  A* out;             // [rows, width]; null: only the statistics are wanted
  RowStatistics statistics;
};
template <typename A>
void RunNorm(const NormForward<A>& args, size_t rows, size_t width);

// grad_x = the gradient of x through dropout(norm(x)), plus the gradient from another reader.
template <typename A>
struct NormBackward {
  const float* grad_out;  // [rows, width]
  const A* x;             // [rows, width]
  RowNorm norm;
  RowStatistics statistics;  // as RunNorm wrote them
  RowDropout dropout;
  const A* other_grad_x;  // [rows, width], or null: none
  A* grad_x;              // [rows, width]
  // [width], added to; null: not wanted.
  float* grad_gamma;
  float* grad_beta;
  float* grad_bias;  // column sums of grad_x
};
template <typename A>
void RunNormBackward(const NormBackward<A>& args, size_t rows, size_t width);

// out = residual + dropout(factor branch).
template <typename A>
struct BranchSum {
  const float* branch;  // [rows, width]
  float factor;
  RowDropout dropout;
  const A* residual;  // [rows, width], or null: none
  A* out;             // [rows, width]
};
template <typename A>
void RunBranchSum(const BranchSum<A>& args, size_t rows, size_t width);

}  // namespace tandem::tensor::cpu
