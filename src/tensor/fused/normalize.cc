#include "tensor/core/functions/functions.h"
#include "tensor/device_operations.h"
#include "tensor/ops.h"

namespace tandem::tensor {

Tensor NormalizeRows(const Tensor& x) {
  constexpr double kLeastNorm = 1e-12;
  return x.is_cpu() ? UnitRows(x, kLeastNorm) : BackEndOperations().NormalizeRows(x);
}

}  // namespace tandem::tensor
