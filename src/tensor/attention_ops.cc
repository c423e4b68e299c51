// The attention operations of ops.h.
#include <ATen/ops/empty.h>

#include <cmath>
#include <vector>

#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/forms.h"
#include "tensor/kernels/cpu/attention.h"
#include "tensor/operation_work.h"
#include "tensor/ops.h"
#include "tensor/reference_ops.h"

namespace tandem::tensor {
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
    cpu::RunAttentionForward<A>(KernelAttention<A>(qkv, tokens, heads, dropout),
                                {.out = Data<A>(out), .log_sums = Data<float>(log_sums)},
                                Threads());
  });
  if (!needs_gradient) return out;
  const auto backward = [qkv = Detached(qkv), out = Detached(out), tokens, heads, dropout,
                         log_sums](const at::Tensor& grad) {
    const ProfileScope backward_scope("SelfAttention backward",
                                      AttentionWork(qkv, tokens, Pass::kBackward));
    const at::Tensor grad_qkv = EmptyLike(qkv);
    ForType(qkv, [&](auto zero) {
      using A = decltype(zero);
      cpu::RunAttentionBackward<A>(KernelAttention<A>(qkv, tokens, heads, dropout),
                                   {.out = Data<A>(out),
                                    .log_sums = Data<float>(log_sums),
                                    .grad_out = Data<A>(grad),
                                    .grad_qkv = Data<A>(grad_qkv)},
                                   Threads());
    });
    return std::vector<at::Tensor>{grad_qkv};
  };
  return WithBackward("SelfAttention", out, {qkv}, backward);
}

at::Tensor Attention(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout) {
  const bool plain = shape.heads == shape.key_value_heads && !rule.causal && rule.window == 0 &&
                     rule.soft_cap == 0 && !bias.table.defined() &&
                     rule.scale == 1 / std::sqrt(static_cast<double>(shape.head_width));
  if (plain) return SelfAttention(qkv, tokens, shape.heads, dropout);
  return reference::Attention(qkv, tokens, shape, rule, bias, dropout);
}

}  // namespace tandem::tensor
