// What all kinds of steps (train/step/step.h) take and give.
#pragma once

#include <vector>

#include "dist/gradient_reducer.h"
#include "model/dual_encoder.h"
#include "train/objective/objective_states.h"

namespace tandem::train {

struct StepOptions {
  model::ForwardOptions forward;
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
  // Adds up the gradients of all processes once this batch is done: that of the last batch of a
  // shared step. Null: they stay with each process.
  dist::GradientReducer* reducer = nullptr;
};

// What a batch's loss is and what it was made of.
struct BatchOutcome {
  double loss = 0;   // queries weigh as the batch's labels say, but in Step::Forward
  double count = 0;  // how many terms the loss is a mean over
  // Where the false-negative filter is on: the cells that masks allow as negatives, and how many of
  // these the filter took out.
  int64_t negatives = 0;
  int64_t false_negatives = 0;
  // The objective needs negatives, and no query has an allowed one: the loss is 0, and nothing can
  // be learned.
  bool lacks_negatives = false;
  std::vector<float> cosines;  // [Q]: of each query and its paired document, at the whole width
  // [Q]: of each query, whatever it weighs (objective::Evaluation), at the first width.
  std::vector<float> losses;
  // The loss of a model that gives every pair of this batch the mean score: it cannot tell
  // documents apart. Only in training steps that ask for it.
  double equal_scores_loss = 0;
};

struct StepOutcome : BatchOutcome {
  ObjectiveStates states;  // after this batch: the score bank has the batch's scores
};

}  // namespace tandem::train
