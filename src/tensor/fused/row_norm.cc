#include "tensor/fused/row_norm.h"

#include "tensor/core/make.h"

namespace tandem::tensor {

RowNorm::RowNorm(const Norm& norm)
    : epsilon_(norm.epsilon), centred_(norm.kind == Norm::Kind::kLayerNorm) {
  if (!norm.defined()) return;
  scale_ = norm.gamma.detach().to(kFloat);
  if (norm.kind == Norm::Kind::kRmsPlusOne) {
    scale_ = scale_.clone();
    float* values = scale_.data_ptr<float>();
    for (int64_t c = 0; c < scale_.numel(); ++c) values[c] += 1;
  }
  if (norm.beta.defined() && centred_) beta_ = norm.beta.detach().to(kFloat);
}

cpu::RowNorm RowNorm::Kernel() const {
  return {Data<const float>(scale_), Data<const float>(beta_), static_cast<float>(epsilon_),
          centred_};
}

RowNormSums::RowNormSums(const Norm& norm) {
  const auto sums_of = [](const Tensor& parameter) {
    const bool wanted = parameter.defined() && parameter.requires_grad();
    return wanted ? Zeros(parameter.sizes(), kFloat) : Tensor();
  };
  gamma = sums_of(norm.gamma);
  beta = sums_of(norm.beta);
}

}  // namespace tandem::tensor
