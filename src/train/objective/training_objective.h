// An objective with everything that a run needs to apply it to batches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"
#include "objective/catalogue.h"
#include "objective/matryoshka.h"
#include "objective/objective.h"
#include "train/objective/objective_states.h"
#include "train/step/false_negatives.h"

namespace tandem::train {

struct TrainingObjective {
  std::unique_ptr<const objective::Objective> loss;
  objective::Needs needs;
  std::string similarity;                   // "cosine" or "dot"
  FalseNegativeRules false_negative_rules;  // training steps only
  // Training steps score embeddings at these widths (objective/matryoshka.h), descending; empty: at
  // the whole width alone. The first one decides what the filter and the score banks see.
  std::vector<objective::Width> widths = {};
};

// What the objective asks of a batch. Throws UsageError for an unknown name, as those below.
objective::Needs NeedsOf(const config::ObjectiveRecipe& recipe);

// Makes an objective without a false-negative filter, at the whole width.
TrainingObjective MakeTrainingObjective(const config::ObjectiveRecipe& recipe);
// Makes the objective of a recipe, with its filter and its widths.
TrainingObjective MakeTrainingObjective(const config::Recipe& recipe);

// The states that the objective starts with.
ObjectiveStates StartingStates(const config::ObjectiveRecipe& recipe);

}  // namespace tandem::train
