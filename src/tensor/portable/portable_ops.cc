#include "tensor/portable/portable_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "tensor/autograd.h"
#include "tensor/backward_state.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"
#include "tensor/portable/portable_dropout.h"
#include "tensor/portable/portable_types.h"
#include "tensor/profile/operation_work.h"
#include "tensor/row_gradient.h"

namespace tandem::tensor::portable {

at::Tensor Activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kSilu:
      return at::silu(x);
  }
  throw std::logic_error("an activation without a name");
}

namespace {

Norm AsNorm(const LayerNorm& norm) {
  return {Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon};
}

// `wide` normalised along its last dimension, in its own type.
at::Tensor Normalized(const at::Tensor& wide, const Norm& norm) {
  if (!norm.defined()) return wide;
  const at::ScalarType type = wide.scalar_type();
  const at::Tensor gamma = norm.gamma.to(type);
  if (norm.kind == Norm::Kind::kLayerNorm) {
    const at::Tensor beta = norm.beta.defined() ? norm.beta.to(type) : at::Tensor();
    return at::layer_norm(wide, {wide.size(-1)}, gamma, beta, norm.epsilon);
  }
  const at::Tensor scale = at::rsqrt((wide * wide).mean(-1, true) + norm.epsilon);
  return wide * scale * (norm.kind == Norm::Kind::kRmsPlusOne ? gamma + 1 : gamma);
}

// The word table's rows [T, H]. Their gradient is added to the table's as rows.
at::Tensor WordRows(const PackedTokens& tokens, const at::Tensor& word) {
  const at::Tensor rows = Detached(word).index_select(0, tokens.ids);
  if (!NeedsGradient({word})) return rows;
  ExpectLeaf(word, "Embed");
  return WithBackward("WordRows", rows, {word}, [word, ids = tokens.ids](const at::Tensor& grad) {
    AddRowGradient(word, SumByRow(word, ids, grad));
    return std::vector<at::Tensor>(1);
  });
}

// The sum of the tables' rows in `type`, [T, H].
at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables,
                        at::ScalarType type) {
  at::Tensor sum = WordRows(tokens, tables.word).to(type);
  if (tables.position.defined()) {
    sum = sum + at::embedding(tables.position, tokens.positions + tables.position_offset).to(type);
  }
  if (tables.type.defined()) {
    const at::Tensor rows = tokens.types.defined() ? at::embedding(tables.type, tokens.types)
                                                   : tables.type.select(0, 0);
    sum = sum + rows.to(type);
  }
  return sum;
}

// The product with the map's own weights, without its adapter.
at::Tensor Product(const at::Tensor& x, const Linear& linear) {
  const Linear base = linear.Base();
  const at::ScalarType type = x.scalar_type();
  const at::Tensor weight = base.WeightIn(type);
  const at::Tensor out = at::linear(Detached(x), weight, base.BiasIn(type));
  const std::vector<at::Tensor> inputs = Join({x}, base.parameters());
  if (!NeedsGradient(inputs)) return out;
  const auto backward = [x = Detached(x), weight, base](const at::Tensor& grad) {
    const ProfileScope scope("Affine backward", AffineWork(x, base, Pass::kBackward));
    std::vector<at::Tensor> gradients = {at::matmul(grad, weight)};
    at::Tensor weight_sum, bias_sum;
    if (base.WantsWeightGradient()) {
      weight_sum = at::matmul(grad.t(), x).to(base.weights().front().scalar_type());
    }
    if (base.WantsBiasGradient()) {
      bias_sum = grad.sum({0}, false, WideType(grad)).to(base.biases().front().scalar_type());
    }
    base.AppendGradients(weight_sum, bias_sum, &gradients);
    return gradients;
  };
  return WithBackward("Affine", out, inputs, backward);
}

// scale (x A_i^T) B_i^T beside each other for the parts of a map with an adapter, [T, N]; 0 for
// parts without one.
at::Tensor LowRankProduct(const at::Tensor& x, const Linear& linear) {
  const Adapter& adapter = linear.low_rank()->adapter();
  const at::Tensor read = AdapterDropout::Drop(x, adapter);
  const at::ScalarType type = x.scalar_type();
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < adapter.down.size(); ++i) {
    if (adapter.down[i].defined()) {
      const at::Tensor narrow = at::linear(read, adapter.down[i].to(type));
      parts.push_back(at::linear(narrow, adapter.up[i].to(type)) * adapter.scale);
    } else {
      parts.push_back(at::zeros({x.size(0), linear.weights()[i].size(0)}, x.options()));
    }
  }
  return at::cat(parts, 1);
}

// The inner values of a feed-forward layer from the product of `up`.
at::Tensor InnerValues(const at::Tensor& product, Activation activation, bool gated) {
  if (!gated) return portable::Activate(product, activation);
  const int64_t width = product.size(1) / 2;
  return portable::Activate(product.narrow(1, 0, width), activation) *
         product.narrow(1, width, width);
}

// Wide rows [T, heads, width] turned by their positions' angles.
at::Tensor TurnedHeads(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const int64_t half = x.size(2) / 2;
  const at::Tensor first = x.narrow(2, 0, half), second = x.narrow(2, half, half);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2);
}

}  // namespace

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  const at::Tensor sum = EmbeddingSum(tokens, tables, WideType(activation));
  return Drop(Normalized(sum, AsNorm(norm)), tokens, dropout).to(activation);
}

at::Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation) {
  const at::Tensor sum = EmbeddingSum(tokens, tables, WideType(activation));
  return Drop(scale == 1 ? sum : sum * scale, tokens, dropout).to(activation);
}

at::Tensor Affine(const at::Tensor& x, const Linear& linear) {
  const at::Tensor out = Product(x, linear);
  return linear.low_rank() == nullptr ? out : out + LowRankProduct(x, linear);
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const at::Tensor sum = Wide(residual) + Drop(Wide(portable::Affine(x, linear)), tokens, dropout);
  return Normalized(sum, AsNorm(norm)).to(x.scalar_type());
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const at::Tensor inner = InnerValues(portable::Affine(x, up), activation, /*gated=*/false);
  return portable::AffineNorm(inner, x, down, norm, tokens, dropout);
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const PackedTokens& tokens,
                     const Dropout& dropout) {
  return Drop(Normalized(Wide(x), norm), tokens, dropout).to(x.scalar_type());
}

at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear) {
  return portable::Affine(Normalized(Wide(x), norm).to(x.scalar_type()), linear);
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  const at::Tensor branch = Normalized(Wide(portable::Affine(x, linear)), out_norm);
  return (Wide(residual) + Drop(branch, tokens, dropout)).to(x.scalar_type());
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  const at::Tensor inner =
      InnerValues(portable::NormAffine(x, layer.norm, layer.up), layer.activation, layer.gated);
  return portable::AffineAdd(Drop(inner, tokens, inner_dropout), x, layer.down, layer.out_norm,
                             tokens, dropout);
}

at::Tensor RotateHeads(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  const int64_t width = shape.head_width, keys = shape.key_value_heads;
  const auto heads_of = [&](int64_t first, int64_t count, const Norm& norm) {
    const at::Tensor heads = qkv.narrow(1, first, count * width).reshape({-1, count, width});
    return Normalized(Wide(heads), norm);
  };
  at::Tensor q = heads_of(0, shape.heads, query_norm);
  at::Tensor k = heads_of(shape.out_width(), keys, key_norm);
  if (rotary.cosines.defined()) {
    const auto rows = [&](const at::Tensor& table) {
      return table.index_select(0, tokens.positions).to(q.scalar_type()).unsqueeze(1);
    };
    const at::Tensor cosines = rows(rotary.cosines), sines = rows(rotary.sines);
    q = TurnedHeads(q, cosines, sines);
    k = TurnedHeads(k, cosines, sines);
  }
  const at::Tensor v = qkv.narrow(1, shape.out_width() + keys * width, keys * width);
  const at::ScalarType type = qkv.scalar_type();
  return at::cat({q.flatten(1).to(type), k.flatten(1).to(type), v}, 1);
}

}  // namespace tandem::tensor::portable
