// The operations of tensor/ops.h in their portable form, computed by libtorch.
#pragma once

#include "tensor/device_operations.h"

namespace tandem::libtorch {

// Takes tensors of any device that libtorch has, the processor among them.
class Operations : public tensor::DeviceOperations {
 public:
  using Tensor = tensor::Tensor;

  // The gradient of a word table is added to it as rows (tensor/core/gradients/sparse_rows.h); one
  // that wants it must be a leaf, else std::logic_error.
  Tensor EmbeddingNorm(const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables,
                       const tensor::LayerNorm& norm, const tensor::Dropout& dropout,
                       tensor::DType activation) const override;
  Tensor Embed(const tensor::PackedTokens& tokens, const tensor::EmbeddingTables& tables,
               double scale, const tensor::Dropout& dropout,
               tensor::DType activation) const override;
  Tensor Affine(const Tensor& x, const tensor::Linear& linear) const override;
  Tensor AffineNorm(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                    const tensor::LayerNorm& norm, const tensor::PackedTokens& tokens,
                    const tensor::Dropout& dropout) const override;
  Tensor FeedForwardNorm(const Tensor& x, const tensor::Linear& up, const tensor::Linear& down,
                         tensor::Activation activation, const tensor::LayerNorm& norm,
                         const tensor::PackedTokens& tokens,
                         const tensor::Dropout& dropout) const override;
  Tensor Normalize(const Tensor& x, const tensor::Norm& norm, const tensor::PackedTokens& tokens,
                   const tensor::Dropout& dropout) const override;
  Tensor NormAffine(const Tensor& x, const tensor::Norm& norm,
                    const tensor::Linear& linear) const override;
  Tensor AffineAdd(const Tensor& x, const Tensor& residual, const tensor::Linear& linear,
                   const tensor::Norm& out_norm, const tensor::PackedTokens& tokens,
                   const tensor::Dropout& dropout) const override;
  Tensor FeedForwardAdd(const Tensor& x, const tensor::FeedForward& layer,
                        const tensor::PackedTokens& tokens, const tensor::Dropout& inner_dropout,
                        const tensor::Dropout& dropout) const override;
  Tensor RotateHeads(const Tensor& qkv, const tensor::PackedTokens& tokens,
                     const tensor::HeadShape& shape, const tensor::Norm& query_norm,
                     const tensor::Norm& key_norm, const tensor::Rotary& rotary) const override;
  Tensor Attention(const Tensor& qkv, const tensor::PackedTokens& tokens,
                   const tensor::HeadShape& shape, const tensor::AttentionRule& rule,
                   const tensor::RelativeBias& bias, const tensor::Dropout& dropout) const override;
  Tensor Pool(const Tensor& x, const tensor::PackedTokens& tokens,
              tensor::Pooling pooling) const override;
  Tensor NormalizeRows(const Tensor& x) const override;
};

}  // namespace tandem::libtorch
