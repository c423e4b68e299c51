#include "tensor/fused/adapted_ops.h"

#include <array>
#include <utility>
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/affine_products.h"
#include "tensor/fused/inner_values.h"
#include "tensor/low_rank.h"
#include "tensor/profile/operation_work.h"

namespace tandem::tensor {
namespace {

thread_local const AdapterDropout* innermost = nullptr;

}  // namespace

AdapterDropout::AdapterDropout(const PackedTokens& tokens, uint64_t seed, uint64_t step)
    : tokens_(tokens), seed_(seed), step_(step), outer_(std::exchange(innermost, this)) {}
AdapterDropout::~AdapterDropout() { innermost = outer_; }

std::optional<AdapterDropout::Now> AdapterDropout::Of(const Adapter& adapter) {
  if (innermost == nullptr || adapter.dropout == 0) return std::nullopt;
  return Now{innermost->tokens_,
             {.rate = adapter.dropout,
              .seed = innermost->seed_,
              .step = innermost->step_,
              .site = adapter.site}};
}

Tensor AdapterDropout::Drop(const Tensor& x, const Adapter& adapter) {
  const std::optional<Now> now = Of(adapter);
  return now ? Normalize(x, /*norm=*/{}, now->tokens, now->dropout) : x;
}

namespace adapted {
namespace {

// base + x A^T (scale B)^T, in the memory of `base`, which nobody else reads.
AffineResult AddLowRank(const Tensor& x, const Tensor& base, const LowRank& low_rank,
                        const Linear& linear) {
  const ProfileScope scope("adapter", AffineWork(x, low_rank.up(), Pass::kForward));
  const Tensor narrow = AffineProduct(Detached(x), low_rank.down());
  const Tensor out = Detached(base);
  out.add_(AffineProduct(narrow, low_rank.up()));
  const std::vector<Tensor> inputs = Join({x, base}, low_rank.parameters());
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{Detached(out), Detached(x)};
  const auto backward = [x = Detached(x), narrow, linear](const std::vector<Tensor>& grads) {
    const LowRank& adapter = *linear.low_rank();
    if (!grads[0].defined()) {
      std::vector<Tensor> gradients(2 + adapter.parameters().size());
      gradients[0] = grads[1];
      return gradients;
    }
    const ProfileScope backward_scope("adapter backward",
                                      AffineWork(x, adapter.up(), Pass::kBackward));
    const LinearSums down(adapter.down()), up(adapter.up());
    const Tensor grad_narrow = AffineProductBackward(narrow, adapter.up(), grads[0], {}, up);
    const Tensor grad_x = AffineProductBackward(x, adapter.down(), grad_narrow, grads[1], down);
    std::vector<Tensor> gradients = {grad_x, grads[0]};
    adapter.AppendParts(down.weight, up.weight, &gradients);
    return gradients;
  };
  WithBackward("Adapter", std::array{result.out, result.x}, inputs, backward);
  return result;
}

}  // namespace

AffineResult Affine(const Tensor& x, const Linear& linear) {
  const AffineResult base = tensor::Affine(x, linear.Base());
  const LowRank& low_rank = *linear.low_rank();
  const Tensor read = AdapterDropout::Drop(base.x, low_rank.adapter());
  const AffineResult sum = AddLowRank(read, base.out, low_rank, linear);
  return {sum.out, read.is_same(base.x) ? sum.x : base.x};
}

Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const Tensor sum = tensor::AffineAdd(x, residual, linear, /*out_norm=*/{}, tokens, dropout);
  return Normalize(sum, {Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon}, tokens, {});
}

Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const AffineResult inner = tensor::Affine(x, up);
  const Tensor values = InnerValues(inner.out, activation, /*gated=*/false, tokens, {});
  return tensor::AffineNorm(values, inner.x, down, norm, tokens, dropout);
}

AffineResult NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) {
  if (!norm.defined()) return tensor::Affine(x, linear);
  PackedTokens unused;  // names rows for dropout, of which there is none
  unused.row_keys = Empty({0}, kLong);
  return {tensor::Affine(Normalize(x, norm, unused, {}), linear).out, x};
}

Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  return Add(residual, Normalize(tensor::Affine(x, linear).out, out_norm, tokens, dropout));
}

Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout) {
  const AffineResult up = tensor::NormAffine(x, layer.norm, layer.up);
  const Tensor inner = InnerValues(up.out, layer.activation, layer.gated, tokens, inner_dropout);
  return tensor::AffineAdd(inner, up.x, layer.down, layer.out_norm, tokens, dropout);
}

}  // namespace adapted
}  // namespace tandem::tensor
