// The attention operations of ops.h.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/device_operations.h"
#include "tensor/forms.h"
#include "tensor/fused/attention_bias.h"
#include "tensor/kernels/cpu/attention/attention.h"
#include "tensor/kernels/cpu/attention/general_attention.h"
#include "tensor/ops.h"
#include "tensor/profile/operation_work.h"
#include "tensor/reference/reference_ops.h"

namespace tandem::tensor {
namespace {

// Texts without a rule that have at most so many tokens, as many as BERT has positions, are
// computed a whole row of scores at a time: that is a few percent faster. Each text by itself, so
// that its bytes do not depend on its neighbours.
constexpr size_t kRowTokens = 512;

template <typename A>
cpu::AttentionInput<A> KernelAttention(const Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                                       const Dropout& dropout) {
  return {Data<A>(qkv),
          tokens.sequence_starts.data_ptr<int32_t>(),
          static_cast<size_t>(tokens.texts()),
          static_cast<size_t>(heads),
          static_cast<size_t>(qkv.size(1) / 3 / heads),
          tokens.row_keys.data_ptr<int64_t>(),
          dropout,
          kRowTokens};
}

// Says whether attention has no rule: then it is SelfAttention.
bool IsPlain(const HeadShape& shape, const AttentionRule& rule, const RelativeBias& bias) {
  return shape.heads == shape.key_value_heads && !rule.causal && rule.window == 0 &&
         rule.soft_cap == 0 && !bias.table.defined() &&
         rule.scale == 1 / std::sqrt(static_cast<double>(shape.head_width));
}

// Attention with the kernels of general_attention.h; without a rule, texts of up to kRowTokens with
// those of attention.h.
struct FusedAttention {
  bool plain;
  Tensor qkv;
  PackedTokens tokens;
  HeadShape shape;
  AttentionRule rule;
  BiasByDistance bias;
  Dropout dropout;

  template <typename A>
  cpu::GeneralAttentionInput<A> Input() const {
    return {.qkv = Data<A>(qkv),
            .starts = tokens.sequence_starts.data_ptr<int32_t>(),
            .texts = static_cast<size_t>(tokens.texts()),
            .heads = static_cast<size_t>(shape.heads),
            .key_value_heads = static_cast<size_t>(shape.key_value_heads),
            .head_width = static_cast<size_t>(shape.head_width),
            .min_length = plain ? kRowTokens + 1 : 0,
            .mask = MaskOf(rule),
            .scale = static_cast<float>(rule.scale),
            .soft_cap = static_cast<float>(rule.soft_cap),
            .bias = bias.ForKernels(),
            .position_keys = tokens.row_keys.data_ptr<int64_t>(),
            .dropout = dropout};
  }

  void Forward(const Tensor& out, const Tensor& log_sums) const {
    ForType(qkv, [&](auto zero) {
      using A = decltype(zero);
      if (plain) {
        cpu::RunAttentionForward<A>(KernelAttention<A>(qkv, tokens, shape.heads, dropout),
                                    {.out = Data<A>(out), .log_sums = Data<float>(log_sums)},
                                    Threads());
        if (tokens.longest <= static_cast<int64_t>(kRowTokens)) return;
      }
      cpu::RunGeneralForward<A>(
          Input<A>(), {.out = Data<A>(out), .log_sums = Data<float>(log_sums)}, Threads());
    });
  }

  // The gradients of qkv and, where there is one, of the bias table; undefined unless `biased`.
  std::vector<Tensor> Backward(const Tensor& out, const Tensor& log_sums, const Tensor& grad,
                               bool biased) const {
    const ProfileScope scope(plain ? "SelfAttention backward" : "Attention backward",
                             AttentionWork(qkv, tokens, shape, rule, Pass::kBackward));
    const Tensor grad_qkv = EmptyLike(qkv);
    const cpu::DistanceBias by_distance = bias.ForKernels();
    Tensor grad_bias;
    if (biased) {
      grad_bias = Empty(
          {tokens.texts(), shape.heads, static_cast<int64_t>(by_distance.bucket_count)}, kDouble);
    }
    ForType(qkv, [&](auto zero) {
      using A = decltype(zero);
      if (plain) {
        cpu::RunAttentionBackward<A>(KernelAttention<A>(qkv, tokens, shape.heads, dropout),
                                     {.out = Data<A>(out),
                                      .log_sums = Data<float>(log_sums),
                                      .grad_out = Data<A>(grad),
                                      .grad_qkv = Data<A>(grad_qkv)},
                                     Threads());
        if (tokens.longest <= static_cast<int64_t>(kRowTokens)) return;
      }
      cpu::RunGeneralBackward<A>(Input<A>(),
                                 {.out = Data<A>(out),
                                  .log_sums = Data<float>(log_sums),
                                  .grad_out = Data<A>(grad),
                                  .grad_qkv = Data<A>(grad_qkv),
                                  .grad_bias = Data<double>(grad_bias)},
                                 Threads());
    });
    if (by_distance.values == nullptr) return {grad_qkv};
    return {grad_qkv, biased ? BiasByDistance::TableGradient(grad_bias) : Tensor()};
  }
};

void CheckAttention(const Tensor& qkv, const HeadShape& shape, const AttentionRule& rule,
                    const RelativeBias& bias) {
  const auto require = [](bool holds, std::string_view what) {
    if (!holds) throw std::logic_error(fmt::format("Attention: {}", what));
  };
  require(shape.key_value_heads > 0 && shape.heads % shape.key_value_heads == 0,
          "heads must be a multiple of key_value_heads");
  require(qkv.size(1) == shape.qkv_width(), "qkv must have HeadShape::qkv_width() columns");
  require(rule.scale > 0, "the scale must be above 0");
  require(rule.window >= 0 && rule.soft_cap >= 0, "window and soft_cap must be at least 0");
  require(!bias.table.defined() || bias.table.size(1) == shape.heads,
          "the bias table must have a column for each head");
}

}  // namespace

Tensor SelfAttention(const Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                     const Dropout& dropout) {
  const int64_t width = qkv.size(1) / 3 / heads;
  return Attention(qkv, tokens, {heads, heads, width},
                   {.scale = 1 / std::sqrt(static_cast<double>(width))}, {}, dropout);
}

Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                 const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout) {
  CheckAttention(qkv, shape, rule, bias);
  const bool plain = IsPlain(shape, rule, bias);
  const char* name = plain ? "SelfAttention" : "Attention";
  const ProfileScope scope(name, AttentionWork(qkv, tokens, shape, rule, Pass::kForward));
  const Form form = FormOf(qkv, "Attention over each head", {shape.head_width});
  if (form == Form::kPortable) {
    return BackEndOperations().Attention(qkv, tokens, shape, rule, bias, dropout);
  }
  if (form == Form::kReference) {
    return reference::Attention(qkv, tokens, shape, rule, bias, dropout);
  }
  // A table of another type than the kernels read takes its gradient through the conversion.
  const Tensor table = bias.table.defined() ? bias.table.to(kFloat) : Tensor();
  const bool needs_gradient = NeedsGradient({qkv, table}), biased = NeedsGradient({table});
  const FusedAttention fused{plain,  Detached(qkv),
                             tokens, shape,
                             rule,   BiasByDistance(table, bias.max_distance, tokens.longest),
                             dropout};
  const Tensor out = Empty({qkv.size(0), shape.out_width()}, qkv.dtype());
  Tensor log_sums;
  if (needs_gradient) log_sums = Empty({shape.heads, qkv.size(0)}, kFloat);
  fused.Forward(out, log_sums);
  if (!needs_gradient) return out;
  std::vector<Tensor> inputs = {qkv};
  if (table.defined()) inputs.push_back(table);
  return WithBackward(name, out, inputs,
                      [fused, out = Detached(out), log_sums, biased](const Tensor& grad) {
                        return fused.Backward(out, log_sums, grad, biased);
                      });
}

}  // namespace tandem::tensor
