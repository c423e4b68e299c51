#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

#include "tensor/ops.h"

namespace tandem::tensor {

at::Tensor NormalizeRows(const at::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); }

}  // namespace tandem::tensor
