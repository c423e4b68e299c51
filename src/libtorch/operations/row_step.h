// What encoders do to each row between two products: dropout, the sum with the residual and
// normalisation, as one step.
#pragma once

#include <ATen/core/Tensor.h>

#include "libtorch/operations/portable_types.h"

namespace tandem::libtorch::portable {

// Where a step drops values.
enum class DropsFrom {
  kX,       // of x, before the sum
  kResult,  // of the normalised rows
};

struct RowStep {
  at::Tensor x;         // [T, H]
  at::Tensor residual;  // [T, H], of the type of x; undefined: none
  Norm norm;            // may be undefined
  at::Tensor row_keys;  // int64 [T]; undefined: nothing is dropped
  Dropout dropout;
  DropsFrom dropped = DropsFrom::kX;
  at::ScalarType result = at::kFloat;

  bool drops() const { return dropout.active() && row_keys.defined(); }
};

// norm(residual + x) with its dropout, [T, H] of the type `result`, differentiable in x, the
// residual and the norm's parameters: by a kernel of Tandem's where one serves (kernels/rows.h),
// else by libtorch's operations.
at::Tensor Do(const RowStep& step);
// The same by libtorch's operations alone.
at::Tensor DoPortably(const RowStep& step);

// `wide` normalised along its last dimension, in its own type.
at::Tensor Normalized(const at::Tensor& wide, const Norm& norm);

}  // namespace tandem::libtorch::portable
