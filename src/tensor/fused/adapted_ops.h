// The operations of ops.h for maps whose adapters are computed beside their weights
// (Linear::AdaptsBeside), put together from the other operations.
#pragma once

#include "tensor/ops.h"

namespace tandem::tensor {

// While an object of this class is alive, adapters whose dropout is not 0 drop values of what they
// read, in operations that this thread calls. Dropout is keyed by the text and the position in it.
// `tokens` must outlive it.
class AdapterDropout {
 public:
  AdapterDropout(const PackedTokens& tokens, uint64_t seed, uint64_t step);
  AdapterDropout(const AdapterDropout&) = delete;
  AdapterDropout& operator=(const AdapterDropout&) = delete;
  ~AdapterDropout();

  // Returns the input that A reads of x, [T, K], on this thread.
  static at::Tensor Drop(const at::Tensor& x, const Adapter& adapter);

 private:
  const PackedTokens& tokens_;
  uint64_t seed_, step_;
  const AdapterDropout* outer_;
};

namespace adapted {

AffineResult Affine(const at::Tensor& x, const Linear& linear);
at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout);
AffineResult NormAffine(const at::Tensor& x, const Norm& norm, const Linear& linear);
at::Tensor AffineAdd(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                     const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);
at::Tensor FeedForwardAdd(const at::Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                          const Dropout& inner_dropout, const Dropout& dropout);

}  // namespace adapted
}  // namespace tandem::tensor
