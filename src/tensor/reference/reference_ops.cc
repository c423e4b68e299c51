#include "tensor/reference/reference_ops.h"

#include <vector>

#include "tensor/core/tensor.h"
#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"
#include "tensor/reference/reference_rows.h"

namespace tandem::tensor::reference {
namespace {

Norm AsNorm(const LayerNorm& norm) {
  return {Norm::Kind::kLayerNorm, norm.gamma, norm.beta, norm.epsilon};
}

}  // namespace

Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                     const LayerNorm& norm, const Dropout& dropout, DType activation) {
  const Tensor sum = EmbeddingSum(tokens, tables, /*scale=*/1, TableType(tables));
  return Dropped(Normalized(sum, AsNorm(norm), activation), tokens, dropout);
}

Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
             const Dropout& dropout, DType activation) {
  return Dropped(EmbeddingSum(tokens, tables, scale, activation), tokens, dropout);
}

Tensor Affine(const Tensor& x, const Linear& linear) {
  Tensor out = Product(x, linear);
  if (linear.low_rank() == nullptr) return out;
  const Adapter& adapter = linear.low_rank()->adapter();
  const Tensor read = AdapterDropout::Drop(x, adapter);
  int64_t first = 0;
  for (size_t i = 0; i < adapter.down.size(); first += linear.weights()[i++].size(0)) {
    if (!adapter.down[i].defined()) continue;
    const Tensor narrow = Product(read, Linear({adapter.down[i]}, {}));
    out = Added(out, Product(narrow, Linear({adapter.up[i]}, {})), first, adapter.scale);
  }
  return out;
}

Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const Tensor branch = Dropped(reference::Affine(x, linear), tokens, dropout);
  return Normalized(Added(residual, branch), AsNorm(norm));
}

Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  const Tensor inner = InnerValues(reference::Affine(x, up), activation, /*gated=*/false);
  return reference::AffineNorm(inner, x, down, norm, tokens, dropout);
}

Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                 const Dropout& dropout) {
  return Dropped(Normalized(x, norm), tokens, dropout);
}

Tensor NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) {
  return reference::Affine(Normalized(x, norm), linear);
}

Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  const Tensor branch = Normalized(reference::Affine(x, linear), out_norm);
  return Added(residual, Dropped(branch, tokens, dropout));
}

Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout) {
  const Tensor inner =
      InnerValues(reference::NormAffine(x, layer.norm, layer.up), layer.activation, layer.gated);
  return reference::AffineAdd(Dropped(inner, tokens, inner_dropout), x, layer.down, layer.out_norm,
                              tokens, dropout);
}

}  // namespace tandem::tensor::reference
