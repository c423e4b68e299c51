// The operations of ops.h for maps whose adapters are computed beside their weights
// (Linear::AdaptsBeside), put together from the other operations.
#pragma once

#include <optional>

#include "tensor/core/tensor.h"
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

  // What an adapter drops on this thread.
  struct Now {
    const PackedTokens& tokens;
    Dropout dropout;
  };
  // None where it drops nothing.
  static std::optional<Now> Of(const Adapter& adapter);
  // Returns the input that A reads of x, [T, K], on this thread.
  static Tensor Drop(const Tensor& x, const Adapter& adapter);

 private:
  const PackedTokens& tokens_;
  uint64_t seed_, step_;
  const AdapterDropout* outer_;
};

namespace adapted {

AffineResult Affine(const Tensor& x, const Linear& linear);
Tensor AffineNorm(const Tensor& x, const Tensor& residual, const Linear& linear,
                  const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
Tensor FeedForwardNorm(const Tensor& x, const Linear& up, const Linear& down, Activation activation,
                       const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout);
AffineResult NormAffine(const Tensor& x, const Norm& norm, const Linear& linear);
Tensor AffineAdd(const Tensor& x, const Tensor& residual, const Linear& linear,
                 const Norm& out_norm, const PackedTokens& tokens, const Dropout& dropout);
Tensor FeedForwardAdd(const Tensor& x, const FeedForward& layer, const PackedTokens& tokens,
                      const Dropout& inner_dropout, const Dropout& dropout);

}  // namespace adapted
}  // namespace tandem::tensor
