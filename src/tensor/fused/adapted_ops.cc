#include "tensor/fused/adapted_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <utility>
#include <vector>

#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/fused/affine_products.h"
#include "tensor/low_rank.h"
#include "tensor/portable/portable_ops.h"
#include "tensor/profile/operation_work.h"

namespace tandem::tensor {
namespace {

thread_local const AdapterDropout* innermost = nullptr;

}  // namespace

AdapterDropout::AdapterDropout(const PackedTokens& tokens, uint64_t seed, uint64_t step)
    : tokens_(tokens), seed_(seed), step_(step), outer_(std::exchange(innermost, this)) {}
AdapterDropout::~AdapterDropout() { innermost = outer_; }

at::Tensor AdapterDropout::Drop(const at::Tensor& x, const Adapter& adapter) {
  if (innermost == nullptr || adapter.dropout == 0) return x;
  return Normalize(x, {}, innermost->tokens_,
                   {.rate = adapter.dropout,
                    .seed = innermost->seed_,
                    .step = innermost->step_,
                    .site = adapter.site});
}

namespace adapted {
namespace {

// base + x A^T (scale B)^T, in the memory of `base`, which nobody else reads.
AffineResult AddLowRank(const at::Tensor& x, const at::Tensor& base, const LowRank& low_rank,
                        const Linear& linear) {
  const ProfileScope scope("adapter", AffineWork(x, low_rank.up(), Pass::kForward));
  const at::Tensor narrow = AffineProduct(Detached(x), low_rank.down());
  const at::Tensor out = Detached(base);
  out.add_(AffineProduct(narrow, low_rank.up()));
  const std::vector<at::Tensor> inputs = Join({x, base}, low_rank.parameters());
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{Detached(out), Detached(x)};
  const auto backward = [x = Detached(x), narrow, linear](const std::vector<at::Tensor>& grads) {
    const LowRank& adapter = *linear.low_rank();
    if (!grads[0].defined()) {
      std::vector<at::Tensor> gradients(2 + adapter.parameters().size());
      gradients[0] = grads[1];
      return gradients;
    }
    const ProfileScope backward_scope("adapter backward",
                                      AffineWork(x, adapter.up(), Pass::kBackward));
    const LinearSums down(adapter.down()), up(adapter.up());
    const at::Tensor grad_narrow = AffineProductBackward(narrow, adapter.up(), grads[0], {}, up);
    const at::Tensor grad_x = AffineProductBackward(x, adapter.down(), grad_narrow, grads[1], down);
    std::vector<at::Tensor> gradients = {grad_x, grads[0]};
    adapter.AppendParts(down.weight, up.weight, &gradients);
    return gradients;
  };
  WithBackward("Adapter", {result.out, result.x}, inputs, backward);
  return result;
}

}  // namespace

AffineResult Affine(const at::Tensor& x, const Linear& linear) {
  const AffineResult base = tensor::Affine(x, linear.Base());
  const LowRank& low_rank = *linear.low_rank();
  const at::Tensor read = AdapterDropout::Drop(base.x, low_rank.adapter());
  const AffineResult sum = AddLowRank(read, base.out, low_rank, linear);
  return {sum.out, read.is_same(base.x) ? sum.x : base.x};
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const at::Tensor sum = tensor::AffineAdd(x, residual, linear, /*out_norm=*/{}, tokens, dropout);
  return Normalize(sum, {Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon}, tokens, {});
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const AffineResult inner = tensor::Affine(x, up);
  return tensor::AffineNorm(portable::Activate(inner.out, activation), inner.x, down, norm, tokens,
                            dropout);
}

AffineResult NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear) {
  if (!norm.defined()) return tensor::Affine(x, linear);
  PackedTokens unused;  // names rows for dropout, of which there is none
  unused.row_keys = at::empty({0}, at::kLong);
  return {tensor::Affine(Normalize(x, norm, unused, {}), linear).out, x};
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  return residual + Normalize(tensor::Affine(x, linear).out, out_norm, tokens, dropout);
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  const AffineResult up = tensor::NormAffine(x, layer.norm, layer.up);
  at::Tensor inner;
  if (layer.gated) {
    const int64_t width = up.out.size(1) / 2;
    inner = portable::Activate(up.out.narrow(1, 0, width), layer.activation) *
            up.out.narrow(1, width, width);
  } else {
    inner = portable::Activate(up.out, layer.activation);
  }
  inner = Normalize(inner, {}, tokens, inner_dropout);
  return tensor::AffineAdd(inner, up.x, layer.down, layer.out_norm, tokens, dropout);
}

}  // namespace adapted
}  // namespace tandem::tensor
