// What batches are composed by besides the number of their queries: tasks and lengths.
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
  std::vector<uint32_t> tasks;            // [n] of each example; empty: batches may mix them
  std::vector<uint32_t> query_tokens;     // [n] of each example's query; empty: nobody asks
  std::vector<uint32_t> document_tokens;  // [N] of each document; empty: nobody asks

  // `options` with these, which must outlive the sampler.
  void AddTo(sampling::SamplerOptions& options) const;
};

// The figures that the recipe's composition asks for. `tasks` are those of the examples of `texts`,
// or empty.
BatchFigures MakeBatchFigures(const config::Recipe& recipe, const ExampleTexts& texts,
                              std::vector<uint32_t> tasks);

// The task (config/recipe/sources.h) of each of the examples `which` of data.set; empty where the
// recipe does not ask for batches of one task, or has one data set.
std::vector<uint32_t> TasksOf(const RunData& data, const config::Recipe& recipe,
                              std::span<const uint32_t> which);

// Throws RecipeError, naming the task, where one has fewer than two training queries and no judged
// negatives for them: its batch would have no negative, and teach nothing.
void CheckTasks(const config::LoadedRecipe& loaded, const ExampleTexts& texts,
                const BatchFigures& figures, const objective::Needs& needs);

// "batches are of one task: 3 tasks, of 20 to 48 queries". `tasks` is not empty.
std::string TasksText(std::span<const uint32_t> tasks);

// The error for a query that `train.batch_tokens` has no room for. `set` has the texts of `texts`.
RecipeError TooLongError(const config::LoadedRecipe& loaded, const sampling::LongDraw& longest,
                         const ExampleTexts& texts, const data::TrainingSet& set);

}  // namespace tandem::train
