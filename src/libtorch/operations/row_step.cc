#include "libtorch/operations/row_step.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rsqrt.h>

#include "libtorch/kernels/rows.h"
#include "libtorch/operations/portable_dropout.h"

namespace tandem::libtorch::portable {

at::Tensor Normalized(const at::Tensor& wide, const Norm& norm) {
  if (!norm.defined()) return wide;
  const at::ScalarType type = wide.scalar_type();
  const at::Tensor gamma = norm.gamma.to(type);
  if (norm.kind == tensor::Norm::Kind::kLayerNorm) {
    const at::Tensor beta = norm.beta.defined() ? norm.beta.to(type) : at::Tensor();
    return at::layer_norm(wide, {wide.size(-1)}, gamma, beta, norm.epsilon);
  }
  const at::Tensor scale = at::rsqrt((wide * wide).mean(-1, true) + norm.epsilon);
  return wide * scale * (norm.kind == tensor::Norm::Kind::kRmsPlusOne ? gamma + 1 : gamma);
}

at::Tensor DoPortably(const RowStep& step) {
  const bool of_x = step.drops() && step.dropped == DropsFrom::kX;
  const bool of_result = step.drops() && step.dropped == DropsFrom::kResult;
  at::Tensor rows = Wide(step.x);
  if (of_x) rows = Drop(rows, step.row_keys, step.dropout);
  if (step.residual.defined()) rows = Wide(step.residual) + rows;
  rows = Normalized(rows, step.norm);
  if (of_result) rows = Drop(rows, step.row_keys, step.dropout);
  return rows.to(step.result);
}

at::Tensor Do(const RowStep& step) {
  return kernels::ServesRows(step) ? kernels::DoRows(step) : DoPortably(step);
}

}  // namespace tandem::libtorch::portable
