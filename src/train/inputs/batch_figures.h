// The task of each query and the lengths of the texts, by which batches are composed besides the
// number of their queries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"
#include "objective/objective.h"
#include "sampling/sampler.h"
#include "train/inputs/run_data.h"
#include "train/step/batch.h"

namespace tandem::train {

struct BatchFigures {
  std::vector<uint32_t> tasks;            // [n] task of each example; empty: batches may mix tasks
  std::vector<uint32_t> query_tokens;     // [n] length of each example's query; empty: not needed
  std::vector<uint32_t> document_tokens;  // [N] length of each document; empty: not needed

  // Adds these figures to `options`. They must outlive the sampler.
  void AddTo(sampling::SamplerOptions& options) const;
};

// Makes the figures that the recipe's sampling needs. `tasks` are the tasks of the examples of
// `texts`, or empty.
BatchFigures MakeBatchFigures(const config::Recipe& recipe, const ExampleTexts& texts,
                              std::vector<uint32_t> tasks);

// Returns the task (config/recipe/sources.h) of each of the examples `which` of data.set; empty if
// the recipe does not ask for batches of one task, or has one data set.
std::vector<uint32_t> TasksOf(const RunData& data, const config::Recipe& recipe,
                              std::span<const uint32_t> which);

// Throws RecipeError, naming the task, if a task has only one training query and no negatives for
// it: its batch would have no negative, and teach nothing.
void CheckTasks(const config::LoadedRecipe& loaded, const ExampleTexts& texts,
                const BatchFigures& figures, const objective::Needs& needs);

// Returns "batches are of one task: 3 tasks, of 20 to 48 queries". `tasks` must not be empty.
std::string TasksText(std::span<const uint32_t> tasks);

// Returns the error for a query whose texts are longer than `train.batch_tokens`. `set` has the
// texts of `texts`.
RecipeError TooLongError(const config::LoadedRecipe& loaded, const sampling::LongDraw& longest,
                         const ExampleTexts& texts, const data::TrainingSet& set);

}  // namespace tandem::train
