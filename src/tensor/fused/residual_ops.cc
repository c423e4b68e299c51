// The operations of ops.h that normalise what a layer reads.

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
#include "tensor/fused/layer_arguments.h"
#include "tensor/fused/row_norm.h"
#include "tensor/kernels/cpu/layers/feed_forward_add.h"
#include "tensor/kernels/cpu/layers/residual_layers.h"
#include "tensor/ops.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

std::vector<Tensor> NormalizeBackward(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                                      const Dropout& dropout, const Tensor& grad) {
  const ProfileScope scope("Normalize backward", RowsWork(x.size(0), x.size(1), 3, x.dtype()));
  const RowNormSums sums(norm);
  const RowNorm row_norm(norm);
  const Tensor grad_x = EmptyLike(x);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunNormalizeBackward<A>({.x = Data<A>(x),
                                  .grad_out = Data<A>(grad),
                                  .rows = Rows(x),
                                  .width = static_cast<size_t>(x.size(1)),
                                  .norm = row_norm.Kernel(),
                                  .dropout = Keys(tokens, dropout),
                                  .norm_gradient = sums.Gradient(),
                                  .grad_x = Data<A>(grad_x)},
                                 Threads());
  });
  return {grad_x, sums.gamma, sums.beta};
}

}  // namespace

Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                 const Dropout& dropout) {
  if (!norm.defined() && !dropout.active()) return x;
  const ProfileScope scope("Normalize", RowsWork(x.size(0), x.size(1), 2, x.dtype()));
  const Form form = FormOf(x, "Normalize", {x.size(1)});
  if (form == Form::kReference) return reference::Normalize(x, norm, tokens, dropout);
  if (form == Form::kPortable) return BackEndOperations().Normalize(x, norm, tokens, dropout);
  const Tensor out = EmptyLike(Detached(x));
  const RowNorm row_norm(norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunNormalizeForward<A>({.x = Data<A>(x),
                                 .rows = Rows(x),
                                 .width = static_cast<size_t>(x.size(1)),
                                 .norm = row_norm.Kernel(),
                                 .dropout = Keys(tokens, dropout),
                                 .out = Data<A>(out)},
                                Threads());
  });
  const Tensor inputs[] = {x, norm.gamma, norm.beta};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("Normalize", out, inputs,
                      [x = Detached(x), norm, tokens, dropout](const Tensor& grad) {
                        return NormalizeBackward(x, norm, tokens, dropout, grad);
                      });
}

namespace {

std::vector<Tensor> NormAffineBackward(const Tensor& x, const Norm& norm, const Linear& linear,
                                       const std::vector<Tensor>& grads) {
  const Tensor &grad = grads[0], &other_grad_x = grads[1];
  if (!grad.defined()) {
    std::vector<Tensor> gradients(1 + linear.parameters().size() + 2);
    gradients[0] = other_grad_x;
    return gradients;
  }
  const ProfileScope scope("NormAffine backward", AffineWork(x, linear, Pass::kBackward));
  std::vector<Tensor> gradients = {EmptyLike(x)};
  const LinearSums sums(linear);
  const RowNormSums norm_sums(norm);
  const RowNorm row_norm(norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunNormAffineBackward<A>({.x = Data<A>(x),
                                   .grad_out = Data<A>(grad),
                                   .other_grad_x = Data<A>(other_grad_x),
                                   .rows = Rows(x),
                                   .norm = row_norm.Kernel(),
                                   .gradient = sums.Gradient(linear, x),
                                   .norm_gradient = norm_sums.Gradient(),
                                   .grad_x = Data<A>(gradients[0])},
                                  Threads());
  });
  sums.AppendTo(linear, &gradients);
  return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
}

}  // namespace

AffineResult NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) {
  if (!norm.defined()) return Affine(x, linear);
  const ProfileScope scope("NormAffine", AffineWork(x, linear, Pass::kForward));
  const Form form = FormOf(x, "NormAffine", {linear.in(), linear.out()});
  if (form == Form::kReference) return {reference::NormAffine(x, norm, linear), x};
  if (form == Form::kPortable) return {BackEndOperations().NormAffine(x, norm, linear), x};
  if (linear.AdaptsBeside(x)) return adapted::NormAffine(x, norm, linear);
  const Tensor out = Empty({x.size(0), linear.out()}, x.dtype());
  const RowNorm row_norm(norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunNormAffineForward<A>({.x = Data<A>(x),
                                  .rows = Rows(x),
                                  .norm = row_norm.Kernel(),
                                  .affine = KernelAffine(linear, x),
                                  .out = Data<A>(out)},
                                 Threads());
  });
  const std::vector<Tensor> inputs = Join(Join({x}, linear.parameters()), {norm.gamma, norm.beta});
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{out, Detached(x)};
  WithBackward("NormAffine", std::array{result.out, result.x}, inputs,
               [x = Detached(x), norm, linear](const std::vector<Tensor>& grads) {
                 return NormAffineBackward(x, norm, linear, grads);
               });
  return result;
}

namespace {

// The operations that AffineAdd and FeedForwardAdd apply to their last product.
struct End {
  Norm norm;  // may be undefined
  PackedTokens tokens;
  Dropout dropout;
  Tensor branch;  // [T, H], saved for the backward pass of the norm; or undefined

  template <typename A>
  cpu::LayerEnd<A> Forward(const Tensor& residual, const RowNorm& row_norm,
                           const Tensor& out) const {
    return {Data<A>(residual), row_norm.Kernel(), Keys(tokens, dropout), Data<A>(branch),
            Data<A>(out)};
  }
  template <typename A>
  cpu::LayerEndBackward<A> Backward(const Tensor& grad, const RowNorm& row_norm,
                                    const RowNormSums& sums) const {
    return {Data<A>(grad), row_norm.Kernel(), Keys(tokens, dropout), Data<A>(branch),
            sums.Gradient()};
  }
  void SaveFor(const Tensor& out, bool needs_gradient) {
    if (needs_gradient && norm.defined()) branch = EmptyLike(out);
  }
};

std::vector<Tensor> AffineAddBackward(const Tensor& x, const Linear& linear, const End& end,
                                      const Tensor& grad) {
  const ProfileScope scope("AffineAdd backward", AffineAddWork(x, linear, Pass::kBackward));
  std::vector<Tensor> gradients = {EmptyLike(x), grad};
  const LinearSums sums(linear);
  const RowNormSums norm_sums(end.norm);
  const RowNorm row_norm(end.norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineAddBackward<A>({.x = Data<A>(x),
                                  .rows = Rows(x),
                                  .gradient = sums.Gradient(linear, x),
                                  .end = end.Backward<A>(grad, row_norm, norm_sums),
                                  .grad_x = Data<A>(gradients[0])},
                                 Threads());
  });
  sums.AppendTo(linear, &gradients);
  return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
}

}  // namespace

Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  const ProfileScope scope("AffineAdd", AffineAddWork(x, linear, Pass::kForward));
  const Form form = FormOf(x, "AffineAdd", {linear.in(), linear.out()});
  if (form == Form::kReference) {
    return reference::AffineAdd(x, residual, linear, out_norm, tokens, dropout);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().AffineAdd(x, residual, linear, out_norm, tokens, dropout);
  }
  if (linear.AdaptsBeside(x)) {
    return adapted::AffineAdd(x, residual, linear, out_norm, tokens, dropout);
  }
  const Tensor out = EmptyLike(Detached(residual));
  const std::vector<Tensor> inputs =
      Join(Join({x, residual}, linear.parameters()), {out_norm.gamma, out_norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  End end{out_norm, tokens, dropout, {}};
  end.SaveFor(out, needs_gradient);
  const RowNorm row_norm(out_norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineAddForward<A>({.x = Data<A>(x),
                                 .rows = Rows(x),
                                 .affine = KernelAffine(linear, x),
                                 .end = end.Forward<A>(residual, row_norm, out)},
                                Threads());
  });
  if (!needs_gradient) return out;
  return WithBackward("AffineAdd", out, inputs, [x = Detached(x), linear, end](const Tensor& grad) {
    return AffineAddBackward(x, linear, end, grad);
  });
}

namespace {

// The tensors that FeedForwardAdd keeps for its backward pass.
struct FeedForwardState {
  Tensor x;
  FeedForward layer;
  Dropout inner_dropout;
  End end;
  Tensor before;  // [T, F or 2F]: the product of `up`

  cpu::InnerValues Inner() const {
    return {layer.activation, layer.gated, Keys(end.tokens, inner_dropout)};
  }
};

std::vector<Tensor> FeedForwardAddBackward(const FeedForwardState& state, const Tensor& grad) {
  const FeedForward& layer = state.layer;
  const ProfileScope scope("FeedForwardAdd backward",
                           FeedForwardAddWork(state.x, layer.up, layer.down, Pass::kBackward));
  std::vector<Tensor> gradients = {EmptyLike(state.x)};
  const LinearSums up(layer.up), down(layer.down);
  const RowNormSums norm_sums(layer.norm), out_norm_sums(layer.out_norm);
  const RowNorm norm(layer.norm), out_norm(layer.out_norm);
  ForType(state.x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunFeedForwardAddBackward<A>({.x = Data<A>(state.x),
                                       .rows = Rows(state.x),
                                       .norm = norm.Kernel(),
                                       .norm_gradient = norm_sums.Gradient(),
                                       .up = up.Gradient(layer.up, state.x),
                                       .down = down.Gradient(layer.down, state.x),
                                       .inner = state.Inner(),
                                       .before = Data<A>(state.before),
                                       .end = state.end.Backward<A>(grad, out_norm, out_norm_sums),
                                       .grad_x = Data<A>(gradients[0])},
                                      Threads());
  });
  up.AppendTo(layer.up, &gradients);
  down.AppendTo(layer.down, &gradients);
  return Join(std::move(gradients),
              {norm_sums.gamma, norm_sums.beta, out_norm_sums.gamma, out_norm_sums.beta});
}

}  // namespace

Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout) {
  const Linear &up = layer.up, &down = layer.down;
  const ProfileScope scope("FeedForwardAdd", FeedForwardAddWork(x, up, down, Pass::kForward));
  const Form form = FormOf(x, "FeedForwardAdd", {up.in(), up.out(), down.in(), down.out()});
  if (form == Form::kReference) {
    return reference::FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
  }
  if (form == Form::kPortable) {
    return BackEndOperations().FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
  }
  if (up.AdaptsBeside(x) || down.AdaptsBeside(x)) {
    return adapted::FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
  }
  const Tensor out = EmptyLike(Detached(x));
  const std::vector<Tensor> inputs =
      Join(Join(Join({x}, up.parameters()), down.parameters()),
           {layer.norm.gamma, layer.norm.beta, layer.out_norm.gamma, layer.out_norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  FeedForwardState state{
      Detached(x), layer, inner_dropout, {layer.out_norm, tokens, dropout, {}}, {}};
  state.end.SaveFor(out, needs_gradient);
  if (needs_gradient) state.before = Empty({x.size(0), up.out()}, out.dtype());
  const RowNorm norm(layer.norm), out_norm(layer.out_norm);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunFeedForwardAddForward<A>({.x = Data<A>(x),
                                      .rows = Rows(x),
                                      .norm = norm.Kernel(),
                                      .up = KernelAffine(up, x),
                                      .down = KernelAffine(down, x),
                                      .inner = state.Inner(),
                                      .before = Data<A>(state.before),
                                      .end = state.end.Forward<A>(x, out_norm, out)},
                                     Threads());
  });
  if (!needs_gradient) return out;
  return WithBackward("FeedForwardAdd", out, inputs,
                      [state](const Tensor& grad) { return FeedForwardAddBackward(state, grad); });
}

}  // namespace tandem::tensor
