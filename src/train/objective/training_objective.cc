#include "train/objective/training_objective.h"

#include "objective/common_params.h"

namespace tandem::train {

objective::Needs NeedsOf(const config::ObjectiveRecipe& recipe) {
  return objective::FindObjective(recipe.name).needs(recipe.params);
}

TrainingObjective MakeTrainingObjective(const config::ObjectiveRecipe& recipe) {
  return {.loss = objective::MakeObjective(recipe.name, recipe.params),
          .needs = NeedsOf(recipe),
          .similarity = objective::SimilarityOf(recipe.params, objective::kSimilarityWithoutModel),
          .false_negative_rules = {}};
}

TrainingObjective MakeTrainingObjective(const config::Recipe& recipe) {
  TrainingObjective objective = MakeTrainingObjective(recipe.objective);
  objective.false_negative_rules = FalseNegativeRulesOf(recipe.data.masks);
  objective.same_tower_score = recipe.data.masks.same_tower_score;
  objective.widths = objective::WidthsOf(recipe.model.dimensions, recipe.model.dimension_weights);
  return objective;
}

ObjectiveStates StartingStates(const config::ObjectiveRecipe& recipe) {
  return ObjectiveStates(objective::FindObjective(recipe.name).StatesOf(recipe.params));
}

}  // namespace tandem::train
