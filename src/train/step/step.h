// One batch through model and objective: scores, loss and gradients.
//
// A step is a function of (model, batch, objective, states): the states that the objective keeps
// between batches go in and come out. Gradients are added to the parameters' `grad`, as libtorch
// does; nothing else changes. There are three kinds, a file each, and a run chooses one at its
// start:
//  - train/step/plain_step.h: every text goes forward and back once;
//  - train/step/cached_step.h: the gradient cache, which encodes in chunks;
//  - train/step/shared_step.h: several processes, each of which makes one of the former of its part
//    of the texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "train/objective/training_objective.h"
#include "train/step/batch.h"
#include "train/step/step_types.h"

namespace tandem::train {

class Step {
 public:
  virtual ~Step() = default;

  // Adds weight * d loss / d parameters to the gradients of the model's parameters and of what the
  // objective learns. Where both towers are one encoder, queries and documents go through it
  // together. Throws NumericError where scores or the loss are not finite; the gradients are then
  // undefined.
  virtual StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                      const TrainingObjective& objective, ObjectiveStates states,
                                      const StepOptions& options) const = 0;

  // The embeddings of all texts of a batch, [Q + D, E], without gradient.
  virtual at::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                            const model::ForwardOptions& options) const = 0;

  // Those of `queries` queries whose masks a batch must have, because this process scores them.
  virtual dist::Share ScoredQueries(int64_t queries, const TrainingObjective& objective) const;

  // The loss at the whole width alone: without gradient, dropout, score bank, false-negative filter
  // and weights of queries, so that values of different steps can be compared. A model that gives
  // high scores to everything could filter all negatives and would then have loss 0.
  BatchOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch,
                       const TrainingObjective& objective, const ObjectiveStates& states,
                       const model::ForwardOptions& options) const;

  // Where a bias that nobody gave starts, from the scores and labels of a run's first batch as
  // training sees them (dropout as `options` say).
  double StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                      const TrainingObjective& objective, const ObjectiveStates& states,
                      const model::ForwardOptions& options) const;
};

// The kind of step that a run makes. `chunk_tokens`: 0, or how many tokens the gradient cache
// encodes at once. `group`: the processes that make the step together, which outlive it; null, or a
// group of one: this process alone.
std::unique_ptr<const Step> MakeStep(int64_t chunk_tokens = 0, dist::ProcessGroup* group = nullptr);

}  // namespace tandem::train
