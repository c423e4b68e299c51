// From the label keys of a recipe and what its objective needs to a training set with grades and
// teacher scores.
#pragma once

#include "config/recipe_parse.h"
#include "data/dataset.h"
#include "data/training_set.h"
#include "objective/catalogue.h"

namespace tandem::train {

// What the keys alone can get wrong. Throws RecipeError naming the key.
void CheckLabelKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs);

// Takes the scores of the lines for what `data.scores` says, or by itself: a teacher's where the
// objective needs one, grades where it needs those or where a line's only pair has a score, else
// nothing. Throws DataError where they cannot be grades.
void TakeScores(data::Dataset& dataset, const config::Recipe& recipe,
                const objective::Needs& needs);

// The training set of a data set whose scores are taken: grades on `data.grade_scale`, split at
// `data.positive_grade` or `data.binarize_at` on that scale; not yet binarized. Throws DataError
// naming file and line for grades outside the scale and teacher scores that the objective needs and
// the data lack, RecipeError for keys that do not suit the data.
data::TrainingSet MakeTrainingSet(data::Dataset dataset, const config::LoadedRecipe& loaded,
                                  const objective::Needs& needs);

// `data.minimum_grade`, `data.binarize_at` and `data.flip_labels`, in this order; the first and the
// last for the examples `training` only. Returns those that still have an own document; notes what
// became of the labels. Throws DataError where none has.
std::vector<uint32_t> StudyLabels(data::TrainingSet& set, std::vector<uint32_t> training,
                                  const config::Recipe& recipe);

}  // namespace tandem::train
