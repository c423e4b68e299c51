// Norms of rows (ops.h) as the kernels take them, and the gradients of their parameters.
#pragma once

#include "tensor/core/tensor.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/kernels/cpu/rows/norm_rows.h"
#include "tensor/ops.h"

namespace tandem::tensor {

// A Norm's parameters in float, whatever type they have.
class RowNorm {
 public:
  explicit RowNorm(const Norm& norm);
  // Valid as long as this object.
  cpu::RowNorm Kernel() const;

 private:
  Tensor scale_;  // float [H]: what normalised rows are multiplied by; or undefined
  Tensor beta_;   // float [H], or undefined
  double epsilon_;
  bool centred_;
};

// Gradients of a Norm's parameters, zero at first; undefined where they are not wanted.
struct RowNormSums {
  Tensor gamma;  // [H]
  Tensor beta;   // [H]
  explicit RowNormSums(const Norm& norm);
  cpu::NormGradient Gradient() const { return {Data<float>(gamma), Data<float>(beta)}; }
};

}  // namespace tandem::tensor
