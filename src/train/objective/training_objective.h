// An objective together with everything that a run needs to apply it to batches.
#pragma once

#include <memory>
#include <optional>
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
  // The highest score of same-tower negatives (train/step/same_tower_filter.h), in training steps
  // only; none: no filter.
  std::optional<double> same_tower_score = {};
  // The widths at which training steps score embeddings (objective/matryoshka.h), descending;
  // empty: the whole width only. The filters and the score banks use the scores of the first one.
  std::vector<objective::Width> widths = {};
};

// Returns what the objective needs of a batch. Throws UsageError for an unknown name, as the
// functions below do.
objective::Needs NeedsOf(const config::ObjectiveRecipe& recipe);

// Makes an objective without filters of negatives, at the whole width only.
TrainingObjective MakeTrainingObjective(const config::ObjectiveRecipe& recipe);
// Makes the objective of a recipe, with its filters and its widths.
TrainingObjective MakeTrainingObjective(const config::Recipe& recipe);

// Returns the states at the start of training.
ObjectiveStates StartingStates(const config::ObjectiveRecipe& recipe);

}  // namespace tandem::train
