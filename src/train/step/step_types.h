// The inputs and outputs of all kinds of steps (train/step/step.h).
#pragma once

#include <vector>

#include "dist/gradient_reducer.h"
#include "model/dual_encoder.h"
#include "train/objective/objective_states.h"

namespace tandem::train {

struct StepOptions {
  model::ForwardOptions forward;
  // The gradient is multiplied by this weight; the returned loss is not. Weights of queries are
  // separate from it, in the batch's labels (objective::Labels).
  double weight = 1;
  // Whether to compute BatchOutcome::equal_scores_loss, which costs a second evaluation of the
  // objective.
  bool with_equal_scores_loss = false;
  // Whether more batches will be encoded with the same weights (accumulation). The packed copies of
  // weights for both passes then stay in memory from batch to batch, so that each is made only once
  // for all batches.
  bool weights_stay = false;
  // Adds up the gradients of all processes after this batch; set for the last batch of a shared
  // step. Null: gradients stay with each process.
  dist::GradientReducer* reducer = nullptr;
};

// The loss of a batch, with the counts and values that it is made of.
struct BatchOutcome {
  double loss = 0;   // queries have their weights in the labels, except in Step::Forward
  double count = 0;  // number of terms that the loss is a mean over
  // If the false-negative filter is on: the number of cells that masks allow as negatives, and how
  // many of these the filter took out.
  int64_t negatives = 0;
  int64_t false_negatives = 0;
  // The number of same-tower cells that data.masks.same_tower_score took out.
  int64_t same_tower_masked = 0;
  // Whether the objective needs negatives and no query has an allowed one: the loss is 0, and
  // nothing can be learned.
  bool lacks_negatives = false;
  std::vector<float> cosines;  // [Q] of each query and its paired document, at the whole width
  // [Q] loss of each query without its weight (objective::Evaluation), at the first width.
  std::vector<float> losses;
  // The loss of a model that gives every pair of this batch the mean score, because it cannot tell
  // documents apart. Computed only in training steps that ask for it.
  double equal_scores_loss = 0;
};

struct StepOutcome : BatchOutcome {
  ObjectiveStates states;  // after this batch: the score bank includes the batch's scores
};

}  // namespace tandem::train
