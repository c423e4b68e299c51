// Applies the label keys of a recipe (`data.scores`, `data.grade_scale`, ...): makes a training set
// with the grades and teacher scores that the objective needs.
#pragma once

#include "config/recipe/recipe_parse.h"
#include "data/dataset.h"
#include "data/lines/line_rules.h"
#include "data/training_set.h"
#include "objective/catalogue.h"

namespace tandem::train {

// Checks the keys before any data are read. Throws RecipeError naming the key.
void CheckLabelKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs);

// What the recipe says of the lines of files: `data.labels`, `data.ignore_columns`, `data.ids`.
// Throws RecipeError naming the key.
data::LineRules LineRulesOf(const config::LoadedRecipe& loaded);

// Uses the scores of lines as `data.scores` says. With "auto" they are a teacher's where the
// objective needs one, grades where it needs those or where nothing else tells documents apart, and
// otherwise not used; labels are the grades already (data/lines/score_meaning.h). Throws DataError
// where they cannot be grades, and where the recipe does not say from which number on a document is
// a positive, and the data do not say it either.
void UseScores(data::Dataset& dataset, const config::LoadedRecipe& loaded,
               const objective::Needs& needs);
// The same for validation data whose documents are ranked: no teacher's scores are needed there.
void UseScoresOfRanked(data::Dataset& dataset, const config::LoadedRecipe& loaded,
                       objective::Needs needs);

// The same data set with grades that those of other sources can stand beside, where several are
// trained on: mapped by `data.grade_scale`. A data set without grades keeps 1 for positives, or
// gets `data.positive_grade` where that is more, and 0 for negatives. Throws as MakeTrainingSet
// does; a data set without grades is no error.
data::Dataset LabelSource(data::Dataset dataset, const config::LoadedRecipe& loaded,
                          const objective::Needs& needs);

// The training set of sources that LabelSource has seen. Throws DataError where the objective needs
// grades and none of them has any.
data::TrainingSet MakeTrainingSetOfSources(data::Dataset sources,
                                           const config::LoadedRecipe& loaded,
                                           const objective::Needs& needs);

// The training set of a data set that UseScores has seen. Its grades are mapped by
// `data.grade_scale` and split at `data.positive_grade` or `data.binarize_at`; they are not binary
// yet. Throws DataError naming file and line for grades outside the scale and for teacher scores
// that the objective needs and the data lack; DataError where the default `data.positive_grade`
// would leave out most queries; RecipeError for keys that do not fit the data.
data::TrainingSet MakeTrainingSet(data::Dataset dataset, const config::LoadedRecipe& loaded,
                                  const objective::Needs& needs);

// Applies `data.minimum_grade`, `data.binarize_at` and `data.flip_labels`, in this order; the first
// and the last change the examples `training` only. Returns those that still have a paired
// document, and says in notes how many labels changed. Throws DataError where no example is left.
std::vector<uint32_t> StudyLabels(data::TrainingSet& set, std::vector<uint32_t> training,
                                  const config::Recipe& recipe);

}  // namespace tandem::train
