// The operations of ops.h that normalise what a layer reads.
#include <fmt/format.h>

#include "tensor/adapted_ops.h"
#include "tensor/forms.h"
#include "tensor/ops.h"
#include "tensor/reference_ops.h"

namespace tandem::tensor {

at::Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                 const Dropout& dropout, at::ScalarType activation) {
  return reference::Embed(tokens, tables, scale, dropout, activation);
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm, const PackedTokens& tokens,
                     const Dropout& dropout) {
  return reference::Normalize(x, norm, tokens, dropout);
}

AffineResult NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear) {
  if (Fusable(x, {linear.in(), linear.out()}) && linear.AdaptsBeside(x)) {
    return adapted::NormAffine(x, norm, linear);
  }
  return {reference::NormAffine(x, norm, linear), x};
}

at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout) {
  if (Fusable(x, {linear.in(), linear.out()}) && linear.AdaptsBeside(x)) {
    return adapted::AffineAdd(x, residual, linear, out_norm, tokens, dropout);
  }
  return reference::AffineAdd(x, residual, linear, out_norm, tokens, dropout);
}

at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout) {
  const Linear &up = layer.up, &down = layer.down;
  if (Fusable(x, {up.in(), up.out(), down.in(), down.out()}) &&
      (up.AdaptsBeside(x) || down.AdaptsBeside(x))) {
    return adapted::FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
  }
  return reference::FeedForwardAdd(x, layer, tokens, inner_dropout, dropout);
}

at::Tensor RotateHeads(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                       const Norm& query_norm, const Norm& key_norm, const Rotary& rotary) {
  return reference::RotateHeads(qkv, tokens, shape, query_norm, key_norm, rotary);
}

}  // namespace tandem::tensor
