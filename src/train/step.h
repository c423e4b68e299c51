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

namespace tandem::train {

// An objective with what it asks of a batch.
struct Goal {
  std::unique_ptr<const objective::Objective> objective;
  objective::Needs needs;
  std::string similarity;  // "cosine" or "dot"
};

// Throws UsageError for an unknown name, and for an objective that needs what training cannot give
// it yet (grades, teacher scores).
Goal MakeGoal(const config::ObjectiveRecipe& recipe);

struct StepOptions {
  model::ForwardOptions forward;
  // Gradient cache (Gao et al. 2021): texts are encoded in chunks of at most so many tokens, first
  // without graph, and again for the gradient, so that memory holds the activations of one chunk.
  // The same result up to rounding, at the price of a second forward pass. 0: off.
  int64_t chunk_tokens = 0;
};

struct StepOutcome {
  double loss = 0;
  double count = 0;            // what the loss is a mean over
  std::vector<float> cosines;  // [Q] of each query and its own document
};

// Adds d loss / d parameters to the gradients of the model's parameters. Queries and documents go
// through the encoder in one forward pass. Throws NumericError for scores or a loss that are not
// finite; gradients are then undefined.
StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                            const StepOptions& options);

// The loss alone, without gradient and without dropout.
StepOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                    const StepOptions& options);

}  // namespace tandem::train
