#include "tensor/backward_state.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace tandem::tensor {
namespace {

// 1 / gamma, or undefined where (out - beta) / gamma would lose more than a few bits of the
// normalised rows.
at::Tensor InverseGamma(const LayerNorm& norm) {
  constexpr float kSmallest = 1e-3F, kLargestShift = 16;
  const float* gamma = norm.gamma.data_ptr<float>();
  const float* beta = norm.beta.data_ptr<float>();
  at::Tensor inverse = at::empty({norm.gamma.size(0)}, at::kFloat);
  auto* values = inverse.data_ptr<float>();
  for (int64_t c = 0; c < norm.gamma.size(0); ++c) {
    const float size = std::fabs(gamma[c]);
    if (!(size >= kSmallest) || !(std::fabs(beta[c]) <= kLargestShift * size)) return {};
    values[c] = 1.0F / gamma[c];
  }
  return inverse;
}

}  // namespace

at::Tensor EmptyLike(const at::Tensor& x) { return at::empty(x.sizes(), x.options()); }

std::vector<at::Tensor> Join(std::vector<at::Tensor> first, const std::vector<at::Tensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

SavedNorm SavedNorm::Make(const at::Tensor& like, bool wanted) {
  if (!wanted) return {};
  return {at::empty(like.sizes(), like.options()), at::empty({like.size(0)}, at::kFloat), {}};
}

SavedNorm SavedNorm::ShareOutput(const at::Tensor& out, const LayerNorm& norm, bool wanted) {
  if (!wanted || out.scalar_type() != at::kFloat) return Make(out, wanted);
  const at::Tensor inverse = InverseGamma(norm);
  if (!inverse.defined()) return Make(out, wanted);
  return {out.detach(), at::empty({out.size(0)}, at::kFloat), inverse};
}

LinearSums::LinearSums(const Linear& linear) {
  if (linear.WantsWeightGradient()) weight = at::empty({linear.out(), linear.in()}, at::kFloat);
  if (linear.WantsBiasGradient()) bias = at::zeros({linear.out()}, at::kFloat);
}

void LinearSums::AppendTo(const Linear& linear, std::vector<at::Tensor>* gradients) const {
  linear.AppendGradients(weight, bias, gradients);
}

LayerNorm WithBeta(const LayerNorm& norm) {
  if (norm.beta.defined()) return norm;
  return {norm.gamma, at::zeros({norm.gamma.size(0)}, at::kFloat), norm.epsilon};
}

NormSums::NormSums(const LayerNorm& norm)
    : gamma(at::zeros({norm.gamma.size(0)}, at::kFloat)),
      beta(at::zeros({norm.gamma.size(0)}, at::kFloat)) {}

}  // namespace tandem::tensor
