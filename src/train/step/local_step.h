// A step whose texts are all encoded by this process.
#pragma once

#include <functional>

#include "tensor/core/tensor.h"
#include "train/step/batch_loss.h"
#include "train/step/step.h"

namespace tandem::train {

// The step separates its forward and backward passes from what is computed of the embeddings
// between them: the loss of this batch, or the loss that a group of processes computes from the
// embeddings of all (train/step/shared_step.h).
class LocalStep : public Step {
 public:
  struct Between {
    // Returns the start of the backward passes. They are left out if its value is undefined.
    std::function<TrainingLoss(const tensor::Tensor& embeddings)> loss;
    // Called before the last backward pass through the encoder.
    std::function<void()> before_last_pass = [] {};
  };

  // Makes the forward and backward passes of the batch's texts.
  virtual StepOutcome Pass(model::DualEncoder& model, const TrainingBatch& batch,
                           const Between& between, const StepOptions& options) const = 0;

  StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                              const TrainingObjective& objective, ObjectiveStates states,
                              const StepOptions& options) const final;
};

}  // namespace tandem::train
