#include "tensor/ops.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/forms.h"
#include "tensor/kernels/cpu/layers.h"
#include "tensor/operation_work.h"
#include "tensor/reference_ops.h"
#include "tensor/row_gradient.h"

namespace tandem::tensor {
namespace {

cpu::Norm KernelNorm(const LayerNorm& norm) {
  return {norm.gamma.data_ptr<float>(), norm.beta.data_ptr<float>(),
          static_cast<float>(norm.epsilon)};
}

cpu::DropoutKeys Keys(const PackedTokens& tokens, const Dropout& dropout) {
  return {tokens.row_keys.data_ptr<int64_t>(), dropout};
}

cpu::Affine KernelAffine(const Linear& linear, const at::Tensor& x) {
  return {&linear.Forward(KernelType(x)), linear.StackedBias()};
}

cpu::Embedding KernelEmbedding(const PackedTokens& tokens, const EmbeddingTables& tables) {
  return {tables.word.data_ptr<float>(),        tables.position.data_ptr<float>(),
          tables.type.data_ptr<float>(),        tokens.ids.data_ptr<int32_t>(),
          tokens.positions.data_ptr<int32_t>(), static_cast<size_t>(tables.word.size(1))};
}

std::vector<at::Tensor> EmbeddingBackward(const PackedTokens& tokens, const EmbeddingTables& tables,
                                          const LayerNorm& norm, const Dropout& dropout,
                                          const SavedNorm& saved, const at::Tensor& grad) {
  const ProfileScope backward_scope("EmbeddingNorm backward",
                                    RowsWork(grad.size(0), grad.size(1), 2, grad.scalar_type()));
  const auto* ids = tokens.ids.data_ptr<int32_t>();
  const RowIndex words = IndexRows(ids, tokens.tokens(), tables.word.size(0));
  const at::Tensor word = at::zeros({words.rows.size(0), tables.word.size(1)}, at::kFloat);
  const at::Tensor position = at::zeros(tables.position.sizes(), at::kFloat);
  const at::Tensor type = at::zeros(tables.type.sizes(), at::kFloat);
  const NormSums sums(norm);
  const at::Tensor grad_sum = EmptyLike(grad);
  ForType(grad, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbeddingNormBackward<A>(
        {.embedding = KernelEmbedding(tokens, tables),
         .grad_out = Data<A>(grad),
         .rows = Rows(grad),
         .saved = saved.As<A>(),
         .norm = KernelNorm(norm),
         .dropout = Keys(tokens, dropout),
         .gradient = {word.data_ptr<float>(), words.indices.data(), position.data_ptr<float>(),
                      type.data_ptr<float>()},
         .norm_gradient = sums.Gradient(),
         .grad_sum = Data<A>(grad_sum)},
        Threads());
  });
  // libtorch would add up the sparse gradients of several backward passes by joining their lists of
  // rows, which would grow with every pass.
  if (tables.word.requires_grad()) AddRowGradient(tables.word, {words.rows, word});
  return {at::Tensor(), position, type, sums.gamma, sums.beta};
}

}  // namespace

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  const ProfileScope scope("EmbeddingNorm",
                           RowsWork(tokens.tokens(), tables.word.size(1), 2, activation));
  const at::Tensor out = at::empty({tokens.tokens(), tables.word.size(1)},
                                   tables.word.options().dtype(activation).requires_grad(false));
  if (tables.word.scalar_type() != at::kFloat || !tables.position.defined() ||
      !tables.type.defined() || tables.position_offset != 0 || !norm.beta.defined() ||
      !Fusable(out, {tables.word.size(1)})) {
    return reference::EmbeddingNorm(tokens, tables, norm, dropout, activation);
  }
  const at::Tensor inputs[] = {tables.word, tables.position, tables.type, norm.gamma, norm.beta};
  const bool needs_gradient = NeedsGradient(inputs);
  if (needs_gradient && !tables.word.is_leaf()) {
    throw std::logic_error("EmbeddingNorm: a word table that wants a gradient must be a leaf");
  }
  const SavedNorm saved = SavedNorm::Make(out, needs_gradient);
  ForType(out, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunEmbeddingNormForward<A>({.embedding = KernelEmbedding(tokens, tables),
                                     .rows = Rows(out),
                                     .norm = KernelNorm(norm),
                                     .dropout = Keys(tokens, dropout),
                                     .out = Data<A>(out),
                                     .saved = saved.As<A>()},
                                    Threads());
  });
  if (!needs_gradient) return out;
  return WithBackward("EmbeddingNorm", out, inputs,
                      [tokens, tables, norm, dropout, saved](const at::Tensor& grad) {
                        return EmbeddingBackward(tokens, tables, norm, dropout, saved, grad);
                      });
}

AffineResult Affine(const at::Tensor& x, const Linear& linear) {
  const ProfileScope scope("Affine", AffineWork(x, linear, Pass::kForward));
  if (!Fusable(x, {linear.in(), linear.out()})) return {reference::Affine(x, linear), x};
  const at::Tensor out = at::empty({x.size(0), linear.out()}, x.options().requires_grad(false));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineForward<A>(
        {.x = Data<A>(x), .rows = Rows(x), .affine = KernelAffine(linear, x), .out = Data<A>(out)},
        Threads());
  });
  const std::vector<at::Tensor> inputs = Join({x}, linear.parameters());
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{out, Detached(x)};
  const auto backward = [x = Detached(x), linear](const std::vector<at::Tensor>& grads) {
    const at::Tensor &grad = grads[0], &other_grad_x = grads[1];
    if (!grad.defined()) {
      std::vector<at::Tensor> gradients(1 + linear.parameters().size());
      gradients[0] = other_grad_x;
      return gradients;
    }
    const ProfileScope backward_scope("Affine backward", AffineWork(x, linear, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x)};
    const LinearSums sums(linear);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunAffineBackward<A>({.x = Data<A>(x),
                                 .grad_out = Data<A>(grad),
                                 .other_grad_x = Data<A>(other_grad_x),
                                 .rows = Rows(x),
                                 .gradient = sums.Gradient(linear, x),
                                 .grad_x = Data<A>(gradients[0])},
                                Threads());
    });
    sums.AppendTo(linear, &gradients);
    return gradients;
  };
  WithBackward("Affine", {result.out, result.x}, inputs, backward);
  return result;
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const ProfileScope scope("AffineNorm", AffineNormWork(x, linear, Pass::kForward));
  if (!Fusable(x, {linear.in(), linear.out()})) {
    return reference::AffineNorm(x, residual, linear, norm, tokens, dropout);
  }
  const at::Tensor out = EmptyLike(Detached(residual));
  const std::vector<at::Tensor> inputs =
      Join(Join({x, residual}, linear.parameters()), {norm.gamma, norm.beta});
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
                         saved](const at::Tensor& grad) {
    const ProfileScope backward_scope("AffineNorm backward",
                                      AffineNormWork(x, linear, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x), EmptyLike(grad)};
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

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const ProfileScope scope("FeedForwardNorm", FeedForwardWork(x, up, down, Pass::kForward));
  if (activation != Activation::kGelu || !Fusable(x, {up.in(), up.out(), down.out()})) {
    return reference::FeedForwardNorm(x, up, down, activation, norm, tokens, dropout);
  }
  const at::Tensor out = EmptyLike(Detached(x));
  const std::vector<at::Tensor> inputs =
      Join(Join(Join({x}, up.parameters()), down.parameters()), {norm.gamma, norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  const SavedNorm saved = SavedNorm::ShareOutput(out, norm, needs_gradient);
  at::Tensor before_gelu;
  if (needs_gradient) before_gelu = at::empty({x.size(0), up.out()}, out.options());
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunFeedForwardForward<A>({.x = Data<A>(x),
                                   .rows = Rows(x),
                                   .up = KernelAffine(up, x),
                                   .down = KernelAffine(down, x),
                                   .norm = KernelNorm(norm),
                                   .dropout = Keys(tokens, dropout),
                                   .out = Data<A>(out),
                                   .before_gelu = Data<A>(before_gelu),
                                   .saved = saved.As<A>()},
                                  Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [x = Detached(x), before_gelu, up, down, norm, tokens, dropout,
                         saved](const at::Tensor& grad) {
    const ProfileScope backward_scope("FeedForwardNorm backward",
                                      FeedForwardWork(x, up, down, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x)};
    const LinearSums up_sums(up), down_sums(down);
    const NormSums norm_sums(norm);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunFeedForwardBackward<A>({.x = Data<A>(x),
                                      .before_gelu = Data<A>(before_gelu),
                                      .grad_out = Data<A>(grad),
                                      .rows = Rows(x),
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
