#include "tensor/ops.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/kernels/cpu/attention.h"
#include "tensor/kernels/cpu/layers.h"
#include "tensor/kernels/cpu/pooling.h"
#include "tensor/operation_work.h"
#include "tensor/reference_ops.h"
#include "tensor/row_gradient.h"

namespace tandem::tensor {
namespace {

// TANDEM_FORMS=reference takes the reference forms everywhere, to compare whole runs.
bool ReferenceFormsWanted() {
  const char* forms = std::getenv("TANDEM_FORMS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view wanted = forms == nullptr ? "" : forms;
  if (wanted == "reference") return true;
  if (wanted.empty() || wanted == "fused") return false;
  throw UsageError(fmt::format("TANDEM_FORMS is fused or reference, not {}", wanted));
}

thread_local int reference_forms = ReferenceFormsWanted() ? 1 : 0;

bool Fusable(const at::Tensor& x, at::ArrayRef<int64_t> widths) {
  if (reference_forms > 0 || !x.is_cpu()) return false;
  if (x.scalar_type() != at::kFloat && x.scalar_type() != at::kBFloat16) return false;
  return std::all_of(widths.begin(), widths.end(), FitsKernels);
}

cpu::Norm KernelNorm(const LayerNorm& norm) {
  return {norm.gamma.data_ptr<float>(), norm.beta.data_ptr<float>(),
          static_cast<float>(norm.epsilon)};
}

cpu::RowNames Names(const PackedTokens& tokens, const Dropout& dropout) {
  return {tokens.row_keys.data_ptr<int64_t>(), dropout};
}

cpu::Affine KernelAffine(const Linear& linear, const at::Tensor& x) {
  return {&linear.Forward(KernelType(x)), linear.StackedBias()};
}

std::vector<at::Tensor> Join(std::vector<at::Tensor> first, const std::vector<at::Tensor>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// One where each thread does something else (RunApart).
int Threads() { return omp_in_parallel() ? 1 : at::get_num_threads(); }

at::Tensor EmptyLike(const at::Tensor& x) { return at::empty(x.sizes(), x.options()); }

// Saved activations must not drag the graph along.
at::Tensor Detached(const at::Tensor& x) { return x.detach(); }

cpu::Embedding KernelEmbedding(const PackedTokens& tokens, const EmbeddingTables& tables) {
  return {tables.word.data_ptr<float>(),        tables.position.data_ptr<float>(),
          tables.type.data_ptr<float>(),        tokens.ids.data_ptr<int32_t>(),
          tokens.positions.data_ptr<int32_t>(), static_cast<size_t>(tables.word.size(1))};
}

std::vector<at::Tensor> EmbeddingBackward(const PackedTokens& tokens, const EmbeddingTables& tables,
                                          const LayerNorm& norm, const Dropout& dropout,
                                          const Kept& kept, const at::Tensor& grad) {
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
    cpu::EmbeddingNormBackward<A>(KernelEmbedding(tokens, tables), Data<A>(grad), Rows(grad),
                                  kept.As<A>(), KernelNorm(norm), Names(tokens, dropout),
                                  {word.data_ptr<float>(), words.indices.data(),
                                   position.data_ptr<float>(), type.data_ptr<float>()},
                                  sums.Gradient(), Data<A>(grad_sum), Threads());
  });
  // libtorch would add gradients of several backward passes up as one list of rows, longer and
  // longer.
  if (tables.word.requires_grad()) AddRowGradient(tables.word, {words.rows, word});
  return {at::Tensor(), position, type, sums.gamma, sums.beta};
}

}  // namespace

ReferenceForms::ReferenceForms() { ++reference_forms; }
ReferenceForms::~ReferenceForms() { --reference_forms; }
bool ReferenceForms::Active() { return reference_forms > 0; }

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  const ProfileScope scope("EmbeddingNorm",
                           RowsWork(tokens.tokens(), tables.word.size(1), 2, activation));
  const at::Tensor out = at::empty({tokens.tokens(), tables.word.size(1)},
                                   tables.word.options().dtype(activation).requires_grad(false));
  if (tables.word.scalar_type() != at::kFloat || !Fusable(out, {tables.word.size(1)})) {
    return reference::EmbeddingNorm(tokens, tables, norm, dropout, activation);
  }
  const at::Tensor inputs[] = {tables.word, tables.position, tables.type, norm.gamma, norm.beta};
  const bool needs_gradient = NeedsGradient(inputs);
  const Kept kept = Kept::Make(out, needs_gradient);
  ForType(out, [&](auto zero) {
    using A = decltype(zero);
    cpu::EmbeddingNormForward<A>(KernelEmbedding(tokens, tables), Rows(out), KernelNorm(norm),
                                 Names(tokens, dropout), Data<A>(out), kept.As<A>(), Threads());
  });
  if (!needs_gradient) return out;
  if (!tables.word.is_leaf()) throw std::logic_error("EmbeddingNorm: the word table is no leaf");
  return WithBackward("EmbeddingNorm", out, inputs,
                      [tokens, tables, norm, dropout, kept](const at::Tensor& grad) {
                        return EmbeddingBackward(tokens, tables, norm, dropout, kept, grad);
                      });
}

AffineResult Affine(const at::Tensor& x, const Linear& linear) {
  const ProfileScope scope("Affine", AffineWork(x, linear, Pass::kForward));
  if (!Fusable(x, {linear.in(), linear.out()})) return {reference::Affine(x, linear), x};
  const at::Tensor out = at::empty({x.size(0), linear.out()}, x.options().requires_grad(false));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::AffineForward<A>(Data<A>(x), Rows(x), KernelAffine(linear, x), Data<A>(out), Threads());
  });
  const std::vector<at::Tensor> inputs = Join({x}, linear.parameters());
  if (!NeedsGradient(inputs)) return {out, x};
  const AffineResult result{out, Detached(x)};
  const auto backward = [x = Detached(x), linear](const std::vector<at::Tensor>& grads) {
    const at::Tensor &grad = grads[0], &beside = grads[1];
    if (!grad.defined()) {
      std::vector<at::Tensor> gradients(1 + linear.parameters().size());
      gradients[0] = beside;
      return gradients;
    }
    const ProfileScope backward_scope("Affine backward", AffineWork(x, linear, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x)};
    const LinearSums sums(linear);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::AffineBackward<A>(Data<A>(x), Data<A>(grad), Data<A>(beside), Rows(x),
                             sums.Gradient(linear, x), Data<A>(gradients[0]), Threads());
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
  const Kept kept = Kept::MakeFor(out, norm, needs_gradient);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::AffineNormForward<A>(Data<A>(x), Data<A>(residual), Rows(x), KernelAffine(linear, x),
                              KernelNorm(norm), Names(tokens, dropout), Data<A>(out), kept.As<A>(),
                              Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [x = Detached(x), linear, norm, tokens, dropout,
                         kept](const at::Tensor& grad) {
    const ProfileScope backward_scope("AffineNorm backward",
                                      AffineNormWork(x, linear, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x), EmptyLike(grad)};
    const LinearSums sums(linear);
    const NormSums norm_sums(norm);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::AffineNormBackward<A>(Data<A>(x), Data<A>(grad), Rows(x), kept.As<A>(), KernelNorm(norm),
                                 Names(tokens, dropout), sums.Gradient(linear, x),
                                 norm_sums.Gradient(), Data<A>(gradients[0]), Data<A>(gradients[1]),
                                 Threads());
    });
    sums.AppendTo(linear, &gradients);
    return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
  };
  return WithBackward("AffineNorm", out, inputs, backward);
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const ProfileScope scope("FeedForwardNorm", FeedForwardWork(x, up, down, Pass::kForward));
  if (!Fusable(x, {up.in(), up.out(), down.out()})) {
    return reference::FeedForwardNorm(x, up, down, norm, tokens, dropout);
  }
  const at::Tensor out = EmptyLike(Detached(x));
  const std::vector<at::Tensor> inputs =
      Join(Join(Join({x}, up.parameters()), down.parameters()), {norm.gamma, norm.beta});
  const bool needs_gradient = NeedsGradient(inputs);
  const Kept kept = Kept::MakeFor(out, norm, needs_gradient);
  at::Tensor before_gelu;
  if (needs_gradient) before_gelu = at::empty({x.size(0), up.out()}, out.options());
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::FeedForwardForward<A>(Data<A>(x), Rows(x), KernelAffine(up, x), KernelAffine(down, x),
                               KernelNorm(norm), Names(tokens, dropout), Data<A>(out),
                               Data<A>(before_gelu), kept.As<A>(), Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [x = Detached(x), before_gelu, up, down, norm, tokens, dropout,
                         kept](const at::Tensor& grad) {
    const ProfileScope backward_scope("FeedForwardNorm backward",
                                      FeedForwardWork(x, up, down, Pass::kBackward));
    std::vector<at::Tensor> gradients = {EmptyLike(x)};
    const LinearSums up_sums(up), down_sums(down);
    const NormSums norm_sums(norm);
    ForType(x, [&](auto zero) {
      using A = decltype(zero);
      cpu::FeedForwardBackward<A>(Data<A>(x), Data<A>(before_gelu), Data<A>(grad), Rows(x),
                                  kept.As<A>(), KernelNorm(norm), Names(tokens, dropout),
                                  up_sums.Gradient(up, x), down_sums.Gradient(down, x),
                                  norm_sums.Gradient(), Data<A>(gradients[0]), Threads());
    });
    up_sums.AppendTo(up, &gradients);
    down_sums.AppendTo(down, &gradients);
    return Join(std::move(gradients), {norm_sums.gamma, norm_sums.beta});
  };
  return WithBackward("FeedForwardNorm", out, inputs, backward);
}

namespace {

template <typename A>
cpu::AttentionInput<A> KernelAttention(const at::Tensor& qkv, const PackedTokens& tokens,
                                       int64_t heads, const Dropout& dropout) {
  return {Data<A>(qkv),
          tokens.sequence_starts.data_ptr<int32_t>(),
          static_cast<size_t>(tokens.texts()),
          static_cast<size_t>(heads),
          static_cast<size_t>(qkv.size(1) / 3 / heads),
          tokens.row_keys.data_ptr<int64_t>(),
          dropout};
}

}  // namespace

at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout) {
  const ProfileScope scope("SelfAttention", AttentionWork(qkv, tokens, Pass::kForward));
  const int64_t hidden = qkv.size(1) / 3;
  if (!Fusable(qkv, {hidden / heads})) {
    return reference::SelfAttention(qkv, tokens, heads, dropout);
  }
  const bool needs_gradient = NeedsGradient({qkv});
  const at::Tensor out = at::empty({qkv.size(0), hidden}, qkv.options().requires_grad(false));
  at::Tensor log_sums;
  if (needs_gradient) log_sums = at::empty({heads, qkv.size(0)}, at::kFloat);
  ForType(qkv, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAttentionForward<A>(KernelAttention<A>(qkv, tokens, heads, dropout), Data<A>(out),
                                Data<float>(log_sums), Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [qkv = Detached(qkv), out = Detached(out), tokens, heads, dropout,
                         log_sums](const at::Tensor& grad) {
    const ProfileScope backward_scope("SelfAttention backward",
                                      AttentionWork(qkv, tokens, Pass::kBackward));
    const at::Tensor grad_qkv = EmptyLike(qkv);
    ForType(qkv, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunAttentionBackward<A>(KernelAttention<A>(qkv, tokens, heads, dropout), Data<A>(out),
                                   Data<A>(grad), Data<float>(log_sums), Data<A>(grad_qkv),
                                   Threads());
    });
    return std::vector<at::Tensor>{grad_qkv};
  };
  return WithBackward("SelfAttention", out, {qkv}, backward);
}

at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const ProfileScope scope("Pool", RowsWork(x.size(0), x.size(1), 1, x.scalar_type()));
  if (pooling != Pooling::kMean || !Fusable(x, {x.size(1)})) {
    return reference::Pool(x, tokens, pooling);
  }
  const at::Tensor out = at::empty({tokens.texts(), x.size(1)}, at::kFloat);
  const auto width = static_cast<size_t>(x.size(1));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::MeanPoolForward<A>(Data<A>(x), tokens.sequence_starts.data_ptr<int32_t>(), Rows(out),
                            width, out.data_ptr<float>(), Threads());
  });
  if (!NeedsGradient({x})) return out;
  const auto backward = [like = x.options().requires_grad(false), tokens,
                         width](const at::Tensor& grad) {
    const ProfileScope backward_scope(
        "Pool backward",
        RowsWork(tokens.tokens(), grad.size(1), 1, c10::typeMetaToScalarType(like.dtype())));
    const at::Tensor grad_x = at::empty({tokens.tokens(), grad.size(1)}, like);
    ForType(grad_x, [&](auto zero) {
      using A = decltype(zero);
      cpu::MeanPoolBackward<A>(grad.data_ptr<float>(), tokens.sequence_starts.data_ptr<int32_t>(),
                               Rows(grad), width, Data<A>(grad_x), Threads());
    });
    return std::vector<at::Tensor>{grad_x};
  };
  return WithBackward("MeanPool", out, {x}, backward);
}

}  // namespace tandem::tensor
