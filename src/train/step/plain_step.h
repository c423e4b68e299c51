// The step without gradient cache: all texts of the batch go through one forward and one backward
// pass.
#pragma once

#include "tensor/core/tensor.h"
#include "train/step/local_step.h"

namespace tandem::train {

class PlainStep final : public LocalStep {
 public:
  StepOutcome Pass(model::DualEncoder& model, const TrainingBatch& batch, const Between& between,
                   const StepOptions& options) const override;
  tensor::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                        const model::ForwardOptions& options) const override;
};

}  // namespace tandem::train
