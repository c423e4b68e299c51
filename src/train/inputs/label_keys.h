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

// Returns the rules by which lines of files are read: `data.labels`, `data.ignore_columns`,
// `data.ids`. Throws RecipeError naming the key.
data::LineRules LineRulesOf(const config::LoadedRecipe& loaded);

// Uses the scores of lines as `data.scores` says. With "auto" they are teacher scores if the
// objective needs these. They are grades if the objective needs grades or if nothing else tells
// documents apart. Otherwise they are not used. Labels already are grades
// (data/lines/score_meaning.h). Throws DataError if the scores cannot be grades, or if neither the
// recipe nor the data say from which number on a document is positive.
void UseScores(data::Dataset& dataset, const config::LoadedRecipe& loaded,
               const objective::Needs& needs);
// Does the same for validation data whose documents are ranked, which need no teacher scores.
void UseScoresOfRanked(data::Dataset& dataset, const config::LoadedRecipe& loaded,
                       objective::Needs needs);

// Makes the grades of a data set comparable with those of other data sets, if a run trains on
// several: maps them by `data.grade_scale`. A data set without grades keeps 1 for positives, or
// gets `data.positive_grade` if that is more, and 0 for negatives. Throws as MakeTrainingSet does,
// but a data set without grades is no error.
data::Dataset LabelSource(data::Dataset dataset, const config::LoadedRecipe& loaded,
                          const objective::Needs& needs);

// Makes the training set of several data sets after LabelSource. Throws DataError if the objective
// needs grades and no data set has any.
data::TrainingSet MakeTrainingSetOfSources(data::Dataset sources,
                                           const config::LoadedRecipe& loaded,
                                           const objective::Needs& needs);

// Makes the training set of one data set after UseScores. Maps its grades by `data.grade_scale` and
// splits them at `data.positive_grade` or `data.binarize_at`; they are not binary yet. Throws
// DataError naming file and line for grades outside the scale and for missing teacher scores that
// the objective needs; DataError if the default `data.positive_grade` would leave out most queries;
// RecipeError for keys that do not fit the data.
data::TrainingSet MakeTrainingSet(data::Dataset dataset, const config::LoadedRecipe& loaded,
                                  const objective::Needs& needs);

// Applies `data.minimum_grade`, `data.binarize_at`, `data.swap_labels` and `data.flip_labels`, in
// this order; all but the second change only the examples `training`. Returns those that still have
// a paired document, and notes how many labels changed. Throws DataError if no example is left, or
// if data.swap_labels finds no query with a judged negative.
std::vector<uint32_t> StudyLabels(data::TrainingSet& set, std::vector<uint32_t> training,
                                  const config::Recipe& recipe);

}  // namespace tandem::train
