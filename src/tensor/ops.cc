#include "tensor/ops.h"

#include <array>
#include <utility>
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/fused/affine_products.h"
#include "tensor/fused/layer_arguments.h"
#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {

AffineResult Affine(const Tensor& x, const Linear& linear) {
  const ProfileScope scope("Affine", AffineWork(x, linear, Pass::kForward));
  const Form form = FormOf(x, "Affine", {linear.in(), linear.out()});
  if (form == Form::kReference) return {reference::Affine(x, linear), x};
  if (form == Form::kPortable) return {BackEndOperations().Affine(x, linear), x};
  if (linear.AdaptsBeside(x)) return adapted::Affine(x, linear);
  const Tensor out = AffineProduct(x, linear);
  const std::vector<Tensor> inputs = Join({x}, linear.parameters());
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{out, Detached(x)};
  const auto backward = [x = Detached(x), linear](const std::vector<Tensor>& grads) {
    const Tensor &grad = grads[0], &other_grad_x = grads[1];
    if (!grad.defined()) {
      std::vector<Tensor> gradients(1 + linear.parameters().size());
      gradients[0] = other_grad_x;
      return gradients;
    }
    const ProfileScope backward_scope("Affine backward", AffineWork(x, linear, Pass::kBackward));
    const LinearSums sums(linear);
    std::vector<Tensor> gradients = {AffineProductBackward(x, linear, grad, other_grad_x, sums)};
    sums.AppendTo(linear, &gradients);
    return gradients;
  };
  WithBackward("Affine", std::array{result.out, result.x}, inputs, backward);
  return result;
}

Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& layer_norm, const PackedTokens& tokens, const Dropout& dropout) {
  const ProfileScope scope("AffineNorm", AffineNormWork(x, linear, Pass::kForward));
  const Form form = FormOf(x, "AffineNorm", {linear.in(), linear.out()});
  if (form == Form::kReference) {
    return reference::AffineNorm(x, residual, linear, layer_norm, tokens, dropout);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().AffineNorm(x, residual, linear, layer_norm, tokens, dropout);
  }
  if (linear.AdaptsBeside(x)) {
    return adapted::AffineNorm(x, residual, linear, layer_norm, tokens, dropout);
  }
  const LayerNorm norm = WithBeta(layer_norm);
  const Tensor out = EmptyLike(Detached(residual));
  const std::vector<Tensor> inputs =
      Join(Join({x, residual}, linear.parameters()), {layer_norm.gamma, layer_norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  const SavedNorm saved = SavedNorm::ShareOutput(out, norm, needs_gradient);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineNormForward<A>({.x = Data<A>(x),
                                  .residual = Data<A>(residual),
                                  .rows = Rows(x),
                                  .affine = KernelAffine(linear, x),
                                  .norm = KernelNorm(norm),
                                  .dropout = Keys(tokens, dropout),
                                  .out = Data<A>(out),
                                  .saved = saved.As<A>()},
                                 Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [x = Detached(x), linear, norm, tokens, dropout,
                         saved](const Tensor& grad) {
    const ProfileScope backward_scope("AffineNorm backward",
                                      AffineNormWork(x, linear, Pass::kBackward));
    std::vector<Tensor> gradients = {EmptyLike(x), EmptyLike(grad)};
    const LinearSums sums(linear);
    const NormSums norm_sums(norm);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunAffineNormBackward<A>({.x = Data<A>(x),
                                     .grad_out = Data<A>(grad),
                                     .rows = Rows(x),
                                     .saved = saved.As<A>(),
                                     .norm = KernelNorm(norm),
                                     .dropout = Keys(tokens, dropout),
                                     .gradient = sums.Gradient(linear, x),
                                     .norm_gradient = norm_sums.Gradient(),
                                     .grad_x = Data<A>(gradients[0]),
                                     .grad_residual = Data<A>(gradients[1])},
                                    Threads());
    });
    sums.AppendTo(linear, &gradients);
    return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
  };
  return WithBackward("AffineNorm", out, inputs, backward);
}

Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& layer_norm, const PackedTokens& tokens,
                       const Dropout& dropout) {
  const ProfileScope scope("FeedForwardNorm", FeedForwardWork(x, up, down, Pass::kForward));
  const Form form = FormOf(x, "FeedForwardNorm", {up.in(), up.out(), down.out()});
  if (form == Form::kReference) {
    return reference::FeedForwardNorm(x, up, down, activation, layer_norm, tokens, dropout);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().FeedForwardNorm(x, up, down, activation, layer_norm, tokens,
                                               dropout);
  }
  if (up.AdaptsBeside(x) || down.AdaptsBeside(x)) {
    return adapted::FeedForwardNorm(x, up, down, activation, layer_norm, tokens, dropout);
  }
  const LayerNorm norm = WithBeta(layer_norm);
  const Tensor out = EmptyLike(Detached(x));
  const std::vector<Tensor> inputs = Join(Join(Join({x}, up.parameters()), down.parameters()),
                                          {layer_norm.gamma, layer_norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  const SavedNorm saved = SavedNorm::ShareOutput(out, norm, needs_gradient);
  Tensor before;
  if (needs_gradient) before = Empty({x.size(0), up.out()}, out.dtype());
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunFeedForwardForward<A>({.x = Data<A>(x),
                                   .rows = Rows(x),
                                   .up = KernelAffine(up, x),
                                   .down = KernelAffine(down, x),
                                   .activation = activation,
                                   .norm = KernelNorm(norm),
                                   .dropout = Keys(tokens, dropout),
                                   .out = Data<A>(out),
                                   .before = Data<A>(before),
                                   .saved = saved.As<A>()},
                                  Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [x = Detached(x), before, up, down, activation, norm, tokens, dropout,
                         saved](const Tensor& grad) {
    const ProfileScope backward_scope("FeedForwardNorm backward",
                                      FeedForwardWork(x, up, down, Pass::kBackward));
    std::vector<Tensor> gradients = {EmptyLike(x)};
    const LinearSums up_sums(up), down_sums(down);
    const NormSums norm_sums(norm);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunFeedForwardBackward<A>({.x = Data<A>(x),
                                      .before = Data<A>(before),
                                      .grad_out = Data<A>(grad),
                                      .rows = Rows(x),
                                      .activation = activation,
                                      .saved = saved.As<A>(),
                                      .norm = KernelNorm(norm),
                                      .dropout = Keys(tokens, dropout),
                                      .up = up_sums.Gradient(up, x),
                                      .down = down_sums.Gradient(down, x),
                                      .norm_gradient = norm_sums.Gradient(),
                                      .grad_x = Data<A>(gradients[0])},
                                     Threads());
    });
    up_sums.AppendTo(up, &gradients);
    down_sums.AppendTo(down, &gradients);
    return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
  };
  return WithBackward("FeedForwardNorm", out, inputs, backward);
}

}  // namespace tandem::tensor
