// The operations of ops.h in their portable form: what a back end computes on its devices, and on
// the processor where TANDEM_FORMS=portable asks for it.
#pragma once

#include <cstdint>

#include "tensor/ops.h"

namespace tandem::tensor {

// Each member computes the operation of its name in ops.h, and is differentiable as that is.
class DeviceOperations {
 public:
  virtual ~DeviceOperations() = default;

  virtual Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                               const LayerNorm& norm, const Dropout& dropout,
                               DType activation) const = 0;
  virtual Tensor Embed(const PackedTokens& tokens, const EmbeddingTables& tables, double scale,
                       const Dropout& dropout, DType activation) const = 0;
  virtual Tensor Affine(const Tensor& x, const Linear& linear) const = 0;
  virtual Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                            const LayerNorm& norm, const PackedTokens& tokens,
                            const Dropout& dropout) const = 0;
  virtual Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down,
                                 Activation activation, const LayerNorm& norm,
                                 const PackedTokens& tokens, const Dropout& dropout) const = 0;
  virtual Tensor Normalize(const Tensor& x, const Norm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) const = 0;
  virtual Tensor NormAffine(const Tensor& x, const Norm& norm, const Linear& linear) const = 0;
  virtual Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                           const Norm& out_norm, const PackedTokens& tokens,
                           const Dropout& dropout) const = 0;
  virtual Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer,
                                const PackedTokens& tokens, const Dropout& inner_dropout,
                                const Dropout& dropout) const = 0;
  virtual Tensor RotateHeads(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                             const Norm& query_norm, const Norm& key_norm,
                             const Rotary& rotary) const = 0;
  virtual Tensor Attention(const Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                           const AttentionRule& rule, const RelativeBias& bias,
                           const Dropout& dropout) const = 0;
  virtual Tensor Pool(const Tensor& x, const PackedTokens& tokens, Pooling pooling) const = 0;
  virtual Tensor NormalizeRows(const Tensor& x) const = 0;
};

// Those of the back end, which is loaded where it is not yet (LoadBackEnd in
// core/back_end/device_functions.h). Throws UsageError where it cannot be loaded.
const DeviceOperations& BackEndOperations();
// Must outlive all tensors of its devices.
void SetBackEndOperations(const DeviceOperations& operations);

}  // namespace tandem::tensor
