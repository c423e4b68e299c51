#include "train/step/local_step.h"

#include <utility>

#include "tensor/core/tensor.h"

namespace tandem::train {

StepOutcome LocalStep::ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                       const TrainingObjective& objective, ObjectiveStates states,
                                       const StepOptions& options) const {
  return Pass(model, batch,
              {.loss =
                   [&](const tensor::Tensor& embeddings) {
                     return LossForTraining(embeddings, batch, objective, std::move(states),
                                            options);
                   }},
              options);
}

}  // namespace tandem::train
