// The step with a gradient cache (Gao et al. 2021): it encodes texts in chunks, first without a
// graph and then again with one for the gradient, so that memory holds the activations of only one
// chunk. The result is that of a plain step up to rounding; the cost is a second forward pass.
#pragma once

#include <cstdint>

#include "tensor/core/tensor.h"
#include "train/step/local_step.h"

namespace tandem::train {

class CachedStep final : public LocalStep {
 public:
  // A chunk has at most `chunk_tokens` tokens, or is a single text.
  explicit CachedStep(int64_t chunk_tokens) : chunk_tokens_(chunk_tokens) {}

  StepOutcome Pass(model::DualEncoder& model, const TrainingBatch& batch, const Between& between,
                   const StepOptions& options) const override;
  tensor::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                        const model::ForwardOptions& options) const override;

 private:
  int64_t chunk_tokens_;
};

}  // namespace tandem::train
