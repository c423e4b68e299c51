#include "tensor/backward_state.h"

#include <cmath>

#include "tensor/core/make.h"

namespace tandem::tensor {
namespace {

// 1 / gamma, or undefined where (out - beta) / gamma would lose more than a few bits of the
// normalised rows.
Tensor InverseGamma(const LayerNorm& norm) {
  constexpr float kSmallest = 1e-3F, kLargestShift = 16;
  const float* gamma = norm.gamma.data_ptr<float>();
  const float* beta = norm.beta.data_ptr<float>();
  Tensor inverse = Empty({norm.gamma.size(0)}, kFloat);
  auto* values = inverse.data_ptr<float>();
  for (int64_t c = 0; c < norm.gamma.size(0); ++c) {
    const float size = std::fabs(gamma[c]);
    if (!(size >= kSmallest) || !(std::fabs(beta[c]) <= kLargestShift * size)) return {};
    values[c] = 1.0F / gamma[c];
  }
  return inverse;
}

}  // namespace

std::vector<Tensor> Join(std::vector<Tensor> first, const std::vector<Tensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

SavedNorm SavedNorm::Make(const Tensor& like, bool wanted) {
  if (!wanted) return {};
  return {EmptyLike(like), Empty({like.size(0)}, kFloat), {}};
}

SavedNorm SavedNorm::ShareOutput(const Tensor& out, const LayerNorm& norm, bool wanted) {
  if (!wanted || out.dtype() != kFloat) return Make(out, wanted);
  const Tensor inverse = InverseGamma(norm);
  if (!inverse.defined()) return Make(out, wanted);
  return {out.detach(), Empty({out.size(0)}, kFloat), inverse};
}

LinearSums::LinearSums(const Linear& linear) {
  if (linear.WantsWeightGradient()) weight = Empty({linear.out(), linear.in()}, kFloat);
  if (linear.WantsBiasGradient()) bias = Zeros({linear.out()}, kFloat);
}

void LinearSums::AppendTo(const Linear& linear, std::vector<Tensor>* gradients) const {
  linear.AppendGradients(weight, bias, gradients);
}

LayerNorm WithBeta(const LayerNorm& norm) {
  if (norm.beta.defined()) return norm;
  return {norm.gamma, Zeros({norm.gamma.size(0)}, kFloat), norm.epsilon};
}

NormSums::NormSums(const LayerNorm& norm)
    : gamma(Zeros({norm.gamma.size(0)}, kFloat)), beta(Zeros({norm.gamma.size(0)}, kFloat)) {}

}  // namespace tandem::tensor
