#include "tensor/reference/libtorch_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>
#include <vector>

#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"

namespace tandem::tensor::libtorch {

at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options) {
  const at::Tensor mask = at::empty({rows, width}, at::kDouble);
  auto* values = mask.data_ptr<double>();
  const uint64_t site_key = SiteKey(dropout, part);
  const uint32_t threshold = KeepThreshold(dropout.rate);
  for (int64_t r = 0; r < rows; ++r) {
    const uint64_t row_key = RowKey(site_key, static_cast<uint64_t>(row_keys[r]));
    for (int64_t c = 0; c < width; ++c) {
      const bool keep = ChannelBits(row_key, static_cast<uint32_t>(c)) >= threshold;
      values[r * width + c] = keep ? KeepScale(dropout.rate) : 0.0;
    }
  }
  return mask.to(options);
}

namespace {

at::Tensor DropRows(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout) {
  if (!dropout.active()) return x;
  const at::Tensor keys = tokens.row_keys.cpu();
  return x * DropoutMask(keys.data_ptr<int64_t>(), x.size(0), x.size(1), dropout, 0, x.options());
}

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

at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables) {
  at::Tensor sum = at::embedding(tables.word, tokens.ids);
  if (tables.position.defined()) {
    sum = sum + at::embedding(tables.position, tokens.positions + tables.position_offset);
  }
  if (tables.type.defined()) {
    sum = sum + (tokens.types.defined() ? at::embedding(tables.type, tokens.types)
                                        : tables.type.select(0, 0));
  }
  return sum;
}

at::Tensor Normalized(const at::Tensor& x, const LayerNorm& norm) {
  const at::Tensor beta = norm.beta.defined() ? norm.beta.to(x.scalar_type()) : at::Tensor();
  return at::layer_norm(x, {x.size(1)}, norm.gamma.to(x.scalar_type()), beta, norm.epsilon);
}

}  // namespace

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  return DropRows(Normalized(EmbeddingSum(tokens, tables), norm).to(activation), tokens, dropout);
}

namespace {

// scale (x A_i^T) B_i^T beside each other for the parts of a map with an adapter, [T, N]; 0 for
// parts without one.
at::Tensor LowRankProduct(const at::Tensor& x, const Linear& linear) {
  const Adapter& adapter = linear.low_rank()->adapter();
  const UsePortableOps other_form;  // what is tested must not be its own measure
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

}  // namespace

at::Tensor Affine(const at::Tensor& x, const Linear& linear) {
  const at::Tensor bias = linear.biases().empty() ? at::Tensor() : at::cat(linear.biases());
  const at::Tensor out = at::linear(x, at::cat(linear.weights()).to(x.scalar_type()),
                                    bias.defined() ? bias.to(x.scalar_type()) : bias);
  return linear.low_rank() == nullptr ? out : out + LowRankProduct(x, linear);
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  return Normalized(residual + DropRows(libtorch::Affine(x, linear), tokens, dropout), norm);
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const at::Tensor inner = Activate(libtorch::Affine(x, up), activation);
  return Normalized(x + DropRows(libtorch::Affine(inner, down), tokens, dropout), norm);
}

namespace {

// Statistics in float for bf16 rows, as libtorch's own layer norm takes them.
at::Tensor RmsNorm(const at::Tensor& x, const Norm& norm) {
  const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  const at::Tensor scale = at::rsqrt((wide * wide).mean(-1, true) + norm.epsilon);
  const at::Tensor gamma = norm.gamma.to(wide.scalar_type());
  const bool plus_one = norm.kind == Norm::Kind::kRmsPlusOne;
  return (wide * scale * (plus_one ? gamma + 1 : gamma)).to(x.scalar_type());
}

at::Tensor Normalized(const at::Tensor& x, const Norm& norm) {
  if (!norm.defined()) return x;
  if (norm.kind != Norm::Kind::kLayerNorm) return RmsNorm(x, norm);
  const at::Tensor beta = norm.beta.defined() ? norm.beta.to(x.scalar_type()) : at::Tensor();
  return at::layer_norm(x, {x.size(-1)}, norm.gamma.to(x.scalar_type()), beta, norm.epsilon);
}

}  // namespace

at::Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation) {
  return DropRows((EmbeddingSum(tokens, tables) * scale).to(activation), tokens, dropout);
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const PackedTokens& tokens,
                     const Dropout& dropout) {
  return DropRows(Normalized(x, norm), tokens, dropout);
}

at::Tensor NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear) {
  return libtorch::Affine(Normalized(x, norm), linear);
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  return residual + DropRows(Normalized(libtorch::Affine(x, linear), out_norm), tokens, dropout);
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  at::Tensor inner = libtorch::NormAffine(x, layer.norm, layer.up);
  if (layer.gated) {
    const int64_t width = inner.size(1) / 2;
    inner = Activate(inner.narrow(1, 0, width), layer.activation) * inner.narrow(1, width, width);
  } else {
    inner = Activate(inner, layer.activation);
  }
  inner = DropRows(inner, tokens, inner_dropout);
  return libtorch::AffineAdd(inner, x, layer.down, layer.out_norm, tokens, dropout);
}

namespace {

// Rows [T, heads, width] turned by their positions' angles.
at::Tensor Turned(const at::Tensor& x, const at::Tensor& cosines, const at::Tensor& sines) {
  const int64_t half = x.size(2) / 2;
  const at::Tensor first = x.narrow(2, 0, half), second = x.narrow(2, half, half);
  return at::cat({first * cosines - second * sines, second * cosines + first * sines}, 2);
}

}  // namespace

at::Tensor RotateHeads(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  const int64_t width = shape.head_width, keys = shape.key_value_heads;
  at::Tensor q = qkv.narrow(1, 0, shape.out_width()).reshape({-1, shape.heads, width});
  at::Tensor k = qkv.narrow(1, shape.out_width(), keys * width).reshape({-1, keys, width});
  const at::Tensor v = qkv.narrow(1, shape.out_width() + keys * width, keys * width);
  q = Normalized(q, query_norm);
  k = Normalized(k, key_norm);
  if (rotary.cosines.defined()) {
    const auto rows = [&](const at::Tensor& table) {
      return table.index_select(0, tokens.positions.to(qkv.device()))
          .to(qkv.scalar_type())
          .unsqueeze(1);
    };
    const at::Tensor cosines = rows(rotary.cosines), sines = rows(rotary.sines);
    q = Turned(q, cosines, sines);
    k = Turned(k, cosines, sines);
  }
  return at::cat({q.flatten(1), k.flatten(1), v}, 1);
}

}  // namespace tandem::tensor::libtorch
