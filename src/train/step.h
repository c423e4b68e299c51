// One batch through model and objective: a plain function, wrapped by everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/recipe.h"
#include "model/dual_encoder.h"
#include "objective/catalogue.h"
#include "objective/objective.h"
#include "train/batch.h"
#include "train/false_negatives.h"
#include "train/objective_states.h"

namespace tandem::train {

// An objective with what it asks of a batch.
struct Goal {
  std::unique_ptr<const objective::Objective> objective;
  objective::Needs needs;
  std::string similarity;  // "cosine" or "dot"
  FalseNegativeRules filter;
  // What the objective learns or keeps; training steps write to it. Null: nothing.
  std::unique_ptr<ObjectiveStates> states;
};

// Without a filter of false negatives. Throws UsageError for an unknown name.
Goal MakeGoal(const config::ObjectiveRecipe& recipe);

// What the weights of a checkpoint are: the model's parameters, and the objective's numbers.
std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model, const Goal& goal);

struct StepOptions {
  model::ForwardOptions forward;
  // Gradient cache (Gao et al. 2021): texts are encoded in chunks of at most so many tokens, first
  // without graph, and again for the gradient, so that memory holds the activations of one chunk.
  // The same result up to rounding, at the price of a second forward pass. 0: off.
  int64_t chunk_tokens = 0;
};

struct StepOutcome {
  double loss = 0;
  double count = 0;             // what the loss is a mean over
  int64_t false_negatives = 0;  // cells that the filter took out of the negatives
  std::vector<float> cosines;   // [Q] of each query and its own document
};

// Adds d loss / d parameters to the gradients of the model's parameters, and of what the objective
// learns; its bank keeps the batch's scores. Where both towers are one encoder, queries and
// documents go through it in one forward pass. Throws NumericError for scores or a loss that are
// not finite; gradients are then undefined.
StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                            const StepOptions& options);

// The loss alone, without gradient, dropout and score bank.
StepOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                    const StepOptions& options);

}  // namespace tandem::train
