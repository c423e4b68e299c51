// One batch through model and objective: scores, loss and gradients.
//
// A step is a function of (model, batch, objective, states): the states that the objective keeps
// between batches go in and come out. Gradients are added to the parameters' `grad`, as libtorch
// does; nothing else changes. The gradient cache and a group of processes
// (train/step/shared_step.h) wrap this function and do not branch inside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"
#include "dist/gradient_reducer.h"
#include "dist/process_group.h"
#include "model/dual_encoder.h"
#include "objective/catalogue.h"
#include "objective/matryoshka.h"
#include "objective/objective.h"
#include "train/step/batch.h"
#include "train/step/false_negatives.h"
#include "train/step/objective_states.h"

namespace tandem::train {

// An objective with everything that a run needs to apply it to batches.
struct TrainingObjective {
  std::unique_ptr<const objective::Objective> loss;
  objective::Needs needs;
  std::string similarity;                   // "cosine" or "dot"
  FalseNegativeRules false_negative_rules;  // training steps only
  // Training steps judge embeddings at these widths (objective/matryoshka.h), descending; empty: at
  // the whole width alone. The first one decides what the filter and the score banks see.
  std::vector<objective::Width> widths = {};
};

// Makes an objective without a false-negative filter. Throws UsageError for an unknown name.
TrainingObjective MakeTrainingObjective(const config::ObjectiveRecipe& recipe);

// The states that the objective starts with.
ObjectiveStates StartingStates(const config::ObjectiveRecipe& recipe);

// The parameters whose values a checkpoint saves: the model's, and the objective's scale and bias.
std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model,
                                                   const ObjectiveStates& states);

struct StepOptions {
  model::ForwardOptions forward;
  // Gradient cache (Gao et al. 2021): the step encodes texts in chunks of at most so many tokens,
  // first without a graph and then again for the gradient, so that memory holds the activations of
  // one chunk. The result is the same up to rounding; the price is a second forward pass. 0: off.
  int64_t chunk_tokens = 0;
  // The gradient is that of so many times the loss. The loss that comes back is not scaled. The
  // weights of queries are apart from it: they are the batch's (objective::Labels).
  double weight = 1;
  // Whether the outcome has BatchOutcome::equal_scores_loss, which costs a second evaluation of the
  // objective.
  bool with_equal_scores_loss = false;
  // Whether further batches are encoded with the same weights (accumulation). Their packed copies
  // for both passes then stay in memory from batch to batch, so that each is made once for all of
  // them.
  bool weights_stay = false;
  // The processes that make the step together: each encodes its part of the batch and judges its
  // queries, and all come to the same loss, feedback and states. Null, or a group of one: this one
  // alone.
  dist::ProcessGroup* group = nullptr;
  // Adds up the gradients of all processes once this batch is done: that of the last batch of a
  // step. Null: they stay with each process.
  dist::GradientReducer* reducer = nullptr;
};

// What a batch's loss is and what it was made of.
struct BatchOutcome {
  double loss = 0;   // queries weigh as the batch's labels say, but in Forward
  double count = 0;  // how many terms the loss is a mean over
  // Where the false-negative filter is on: the cells that masks allow as negatives, and how many of
  // these the filter took out.
  int64_t negatives = 0;
  int64_t false_negatives = 0;
  // The objective needs negatives, and no query has an allowed one: the loss is 0, and nothing can
  // be learned.
  bool lacks_negatives = false;
  std::vector<float> cosines;  // [Q]: of each query and its own document, at the whole width
  // [Q]: of each query, whatever it weighs (objective::Evaluation), at the first width.
  std::vector<float> losses;
  // The loss of a model that gives every pair of this batch the mean score: it cannot tell
  // documents apart. Only in training steps that ask for it.
  double equal_scores_loss = 0;
};

struct StepOutcome : BatchOutcome {
  ObjectiveStates states;  // after this batch: the score bank has the batch's scores
};

// Adds weight * d loss / d parameters to the gradients of the model's parameters and of what the
// objective learns. Where both towers are one encoder, queries and documents go through it in one
// forward pass. Throws NumericError where scores or the loss are not finite; the gradients are then
// undefined.
StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                            const TrainingObjective& objective, ObjectiveStates states,
                            const StepOptions& options);

// The loss at the whole width alone: without gradient, dropout, score bank, false-negative filter
// and weights of queries, so that values of different steps can be compared. A model that gives
// high scores to everything could filter all negatives and would then have loss 0.
BatchOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch,
                     const TrainingObjective& objective, const ObjectiveStates& states,
                     const StepOptions& options);

// Where a bias that nobody gave starts, from the scores and labels of a run's first batch as
// training sees them (dropout as `options` say).
double StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                    const TrainingObjective& objective, const ObjectiveStates& states,
                    const StepOptions& options);

}  // namespace tandem::train
