#include "tensor/fused/row_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

namespace tandem::tensor {

RowNorm::RowNorm(const Norm& norm)
    : epsilon_(norm.epsilon), centred_(norm.kind == Norm::Kind::kLayerNorm) {
  if (!norm.defined()) return;
  scale_ = norm.gamma.detach().to(at::kFloat);
  if (norm.kind == Norm::Kind::kRmsPlusOne) scale_ = scale_ + 1;
  if (norm.beta.defined() && centred_) beta_ = norm.beta.detach().to(at::kFloat);
}

cpu::RowNorm RowNorm::Kernel() const {
  return {Data<const float>(scale_), Data<const float>(beta_), static_cast<float>(epsilon_),
          centred_};
}

RowNormSums::RowNormSums(const Norm& norm) {
  const auto sums_of = [](const at::Tensor& parameter) {
    const bool wanted = parameter.defined() && parameter.requires_grad();
    return wanted ? at::zeros(parameter.sizes(), at::kFloat) : at::Tensor();
  };
  gamma = sums_of(norm.gamma);
  beta = sums_of(norm.beta);
}

}  // namespace tandem::tensor
