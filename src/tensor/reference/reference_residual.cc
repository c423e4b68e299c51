// The reference implementation of the operations that normalise what a layer reads.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rsqrt.h>

#include "tensor/reference/reference_ops.h"

namespace tandem::tensor::reference {
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
  return reference::Affine(Normalized(x, norm), linear);
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  return residual + DropRows(Normalized(reference::Affine(x, linear), out_norm), tokens, dropout);
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  at::Tensor inner = reference::NormAffine(x, layer.norm, layer.up);
  if (layer.gated) {
    const int64_t width = inner.size(1) / 2;
    inner = Activate(inner.narrow(1, 0, width), layer.activation) * inner.narrow(1, width, width);
  } else {
    inner = Activate(inner, layer.activation);
  }
  inner = DropRows(inner, tokens, inner_dropout);
  return reference::AffineAdd(inner, x, layer.down, layer.out_norm, tokens, dropout);
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

}  // namespace tandem::tensor::reference
