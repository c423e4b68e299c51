// A step all of whose texts go through the encoder of this process.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "train/step/batch_loss.h"
#include "train/step/step.h"

namespace tandem::train {

// Its passes forward and back are one thing, and what becomes of the embeddings between them is
// another: the loss of this batch, or what a group of processes makes of the embeddings of all
// (train/step/shared_step.h).
class LocalStep : public Step {
 public:
  struct Between {
    // Gives what the passes back begin with. They are left out where its value is undefined.
    std::function<TrainingLoss(const at::Tensor& embeddings)> loss;
    // Called before the last pass back through the encoder.
    std::function<void()> before_last_pass = [] {};
  };

  // Takes the batch's texts forward and back.
  virtual StepOutcome Pass(model::DualEncoder& model, const TrainingBatch& batch,
                           const Between& between, const StepOptions& options) const = 0;

  StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                              const TrainingObjective& objective, ObjectiveStates states,
                              const StepOptions& options) const final;
};

}  // namespace tandem::train
