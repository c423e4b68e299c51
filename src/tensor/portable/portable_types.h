// The type in which the portable operations sum, normalise and make probabilities.
#pragma once

#include <ATen/core/Tensor.h>

namespace tandem::tensor::portable {

// Double for double, else float.
inline at::ScalarType WideType(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}
inline at::ScalarType WideType(const at::Tensor& x) { return WideType(x.scalar_type()); }
inline at::Tensor Wide(const at::Tensor& x) { return x.to(WideType(x)); }

}  // namespace tandem::tensor::portable
