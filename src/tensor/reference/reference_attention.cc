// The reference implementation of attention and of what turns its heads.

#include <cstdint>
#include <vector>

#include "tensor/core/gradients/tape.h"
#include "tensor/core/half.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/reference/attention_loops.h"
#include "tensor/reference/loop_arguments.h"
#include "tensor/reference/reference_ops.h"
#include "tensor/reference/reference_rows.h"
#include "tensor/reference/rotary_loops.h"

namespace tandem::tensor::reference {
namespace {

using Gradients = std::vector<Tensor>;

// The number nearest to x in a type that is narrower than the loops'.
double ToBf16(double x) { return static_cast<double>(FloatOf(Bf16Of(static_cast<float>(x)))); }
double ToHalf(double x) { return static_cast<double>(FloatOf(HalfOf(static_cast<float>(x)))); }

double (*RoundingOf(DType type))(double) {
  if (type == kBFloat16) return ToBf16;
  if (type == kHalf) return ToHalf;
  return loops::Unrounded;
}

// Attention over these texts, with the values that the loops read.
struct AttentionValues {
  DType type;
  Tensor qkv, starts, keys, table;
  HeadShape shape;
  AttentionRule rule;
  RelativeBias bias;
  Dropout dropout;

  template <typename T>
  loops::AttentionArguments<T> Arguments() const {
    return {.qkv = qkv.data_ptr<T>(),
            .starts = starts.data_ptr<int32_t>(),
            .texts = starts.size(0) - 1,
            .shape = shape,
            .rule = rule,
            .bias = DataOf<T>(table),
            .buckets = table.defined() ? table.size(0) : 0,
            .max_distance = bias.max_distance,
            .row_keys = keys.data_ptr<int64_t>(),
            .dropout = dropout,
            .round = RoundingOf(type)};
  }
  Tensor Forward() const {
    const Tensor out = EmptyForLoops({qkv.size(0), shape.out_width()}, type);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::Attention(Arguments<T>(), out.data_ptr<T>());
    });
    return out;
  }
  // The gradients of qkv and of the bias table.
  Gradients Backward(const Tensor& grad) const {
    const Tensor above = LoopValues(grad, type), grad_table = GradientSums(bias.table);
    const Tensor grad_qkv = Zeros(qkv.sizes(), kDouble);
    ForLoopType(type, [&](auto zero) {
      using T = decltype(zero);
      loops::AttentionBackward(Arguments<T>(), above.data_ptr<T>(), grad_qkv.data_ptr<double>(),
                               DataOf<double>(grad_table));
    });
    return {FromLoops(grad_qkv, type, grad.device()), FromLoops(grad_table, type, grad.device())};
  }
};

}  // namespace

Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                 const AttentionRule& rule, const RelativeBias& bias, const Dropout& dropout) {
  const DType type = qkv.dtype();
  const AttentionValues values{.type = type,
                               .qkv = LoopValues(qkv, type),
                               .starts = OnHost(tokens.sequence_starts),
                               .keys = OnHost(tokens.row_keys),
                               .table = LoopValues(bias.table, type),
                               .shape = shape,
                               .rule = rule,
                               .bias = bias,
                               .dropout = dropout};
  const Tensor out = FromLoops(values.Forward(), type, qkv.device());
  if (!NeedsGradient({qkv, bias.table})) return out;
  return WithBackward("reference Attention", out, {qkv, bias.table},
                      [values](const Tensor& grad) { return values.Backward(grad); });
}

namespace {

// qkv with its query and key heads turned, or turned back.
Tensor TurnedOnce(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                  const Rotary& rotary, loops::Turn turn) {
  const DType type = qkv.dtype();
  const Tensor values = LoopValues(qkv, type), positions = OnHost(tokens.positions);
  const Tensor cosines = LoopValues(rotary.cosines, type);
  const Tensor sines = LoopValues(rotary.sines, type);
  const Tensor out = EmptyForLoops(qkv.sizes(), type);
  ForLoopType(type, [&](auto zero) {
    using T = decltype(zero);
    const loops::RotaryArguments<T> args{.rows = qkv.size(0),
                                         .shape = shape,
                                         .positions = positions.data_ptr<int32_t>(),
                                         .cosines = cosines.data_ptr<T>(),
                                         .sines = sines.data_ptr<T>()};
    loops::TurnHeads(args, turn, values.data_ptr<T>(), out.data_ptr<T>());
  });
  return FromLoops(out, type, qkv.device());
}

Tensor Turned(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
              const Rotary& rotary) {
  if (!rotary.cosines.defined()) return qkv;
  const Tensor out = TurnedOnce(qkv, tokens, shape, rotary, loops::Turn::kForward);
  if (!NeedsGradient({qkv})) return out;
  return WithBackward("reference Turned", out, {qkv}, [=](const Tensor& grad) {
    return Gradients{TurnedOnce(grad, tokens, shape, rotary, loops::Turn::kBackward)};
  });
}

}  // namespace

Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                   const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  const Tensor with_queries = NormalizedHeads(qkv, query_norm, 0, shape.heads);
  const Tensor with_keys =
      NormalizedHeads(with_queries, key_norm, shape.out_width(), shape.key_value_heads);
  return Turned(with_keys, tokens, shape, rotary);
}

}  // namespace tandem::tensor::reference
