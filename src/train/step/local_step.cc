#include "train/step/local_step.h"

#include <utility>

namespace tandem::train {

StepOutcome LocalStep::ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                       const TrainingObjective& objective, ObjectiveStates states,
                                       const StepOptions& options) const {
  return Pass(model, batch,
              {.loss =
                   [&](const at::Tensor& embeddings) {
                     return LossForTraining(embeddings, batch, objective, std::move(states),
                                            options);
                   }},
              options);
}

}  // namespace tandem::train
