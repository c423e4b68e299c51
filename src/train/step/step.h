// Passes one batch through model and objective: scores, loss and gradients.
//
// A step is a function of (model, batch, objective, states): it takes the states that the objective
// keeps between batches and returns the next ones. Gradients are added to those of the parameters
// (tensor/core/gradients/tape.h); nothing else changes. There are three kinds, a file each, and a
// run chooses one at its start:
//  - train/step/plain_step.h: one forward and one backward pass for all texts;
//  - train/step/cached_step.h: the gradient cache, which encodes in chunks;
//  - train/step/shared_step.h: several processes, each of which makes a step of the former kinds
//    with its part of the texts.
#pragma once

#include <cstdint>
#include <memory>

#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "tensor/core/tensor.h"
#include "train/objective/training_objective.h"
#include "train/step/batch.h"
#include "train/step/step_types.h"

namespace tandem::train {

class Step {
 public:
  virtual ~Step() = default;

  // Adds weight * d loss / d parameters to the gradients of the model's and the objective's
  // parameters. If queries and documents share one encoder, they are encoded together. Throws
  // NumericError if scores or the loss are not finite; the gradients are then undefined.
  virtual StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                      const TrainingObjective& objective, ObjectiveStates states,
                                      const StepOptions& options) const = 0;

  // Returns the embeddings of all texts of a batch, [Q + D, E], without gradient.
  virtual tensor::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                                const model::ForwardOptions& options) const = 0;

  // Returns which of `queries` queries this process scores; a batch must have their masks.
  virtual dist::Share ScoredQueries(int64_t queries, const TrainingObjective& objective) const;

  // Returns the loss at the whole width only, without gradient, dropout, score bank, false-negative
  // filter and weights of queries, so that values of different steps are comparable. For example, a
  // model that gives high scores to everything could filter all negatives and would then have loss
  // 0.
  BatchOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch,
                       const TrainingObjective& objective, const ObjectiveStates& states,
                       const model::ForwardOptions& options) const;

  // Returns the starting value of a bias that neither recipe nor model give, computed from the
  // scores and labels of a run's first batch as training sees them (dropout as `options` say).
  double StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                      const TrainingObjective& objective, const ObjectiveStates& states,
                      const model::ForwardOptions& options) const;
};

// Makes the kind of step that a run needs. `chunk_tokens` is the number of tokens that the gradient
// cache encodes at once; 0: no cache. `group` has the processes that make the step together, and
// must outlive it; null, or a group of one: this process makes it alone.
std::unique_ptr<const Step> MakeStep(int64_t chunk_tokens = 0, dist::ProcessGroup* group = nullptr);

}  // namespace tandem::train
