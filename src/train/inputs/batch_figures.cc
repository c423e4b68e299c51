#include "train/inputs/batch_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "config/recipe/sources.h"

namespace tandem::train {
namespace {

// Whether the query has judged negatives, or extra labelled documents to compare with its paired
// one.
bool BringsExtra(const ExampleTexts& texts, size_t example, const objective::Needs& needs) {
  const sampling::Examples& examples = texts.examples;
  if (needs.graded_own) return examples.judged(example).size() > 1;
  return !examples.negatives(example).empty();
}

// The name of a task in messages: its own name, or the path of its only data set.
std::string TaskName(const std::vector<config::SourceRecipe>& sources, size_t task) {
  const std::vector<uint32_t> tasks = config::TasksOfSources(sources);
  const auto first =
      static_cast<size_t>(std::find(tasks.begin(), tasks.end(), task) - tasks.begin());
  return sources[first].task ? fmt::format("task \"{}\"", *sources[first].task)
                             : sources[first].path;
}

}  // namespace

void BatchFigures::AddTo(sampling::SamplerOptions& options) const {
  options.tasks = tasks;
  options.lengths = {.queries = query_tokens, .documents = document_tokens};
}

BatchFigures MakeBatchFigures(const config::Recipe& recipe, const ExampleTexts& texts,
                              std::vector<uint32_t> tasks) {
  BatchFigures figures{.tasks = std::move(tasks)};
  if (!recipe.sampling.similar_lengths && !recipe.train.batch_tokens) return figures;
  figures.query_tokens.reserve(texts.query_texts.size());
  for (const uint32_t query : texts.query_texts) {
    figures.query_tokens.push_back(static_cast<uint32_t>(texts.queries.length(query)));
  }
  figures.document_tokens.reserve(texts.documents.size());
  for (size_t document = 0; document < texts.documents.size(); ++document) {
    figures.document_tokens.push_back(static_cast<uint32_t>(texts.documents.length(document)));
  }
  return figures;
}

std::vector<uint32_t> TasksOf(const RunData& data, const config::Recipe& recipe,
                              std::span<const uint32_t> which) {
  std::vector<uint32_t> tasks;
  if (!recipe.sampling.by_task || recipe.data.sources.size() < 2) return tasks;
  const std::vector<uint32_t> of_sources = config::TasksOfSources(recipe.data.sources);
  tasks.reserve(which.size());
  for (const uint32_t e : which) tasks.push_back(of_sources[data.set.examples[e].source]);
  return tasks;
}

void CheckTasks(const config::LoadedRecipe& loaded, const ExampleTexts& texts,
                const BatchFigures& figures, const objective::Needs& needs) {
  if (figures.tasks.empty() || !needs.negatives) return;
  const std::vector<config::SourceRecipe>& sources = loaded.recipe.data.sources;
  std::vector<size_t> queries(sources.size());
  std::vector<bool> brings(sources.size());
  const bool draws = loaded.recipe.data.negatives.value_or(0) > 0;
  const bool mines = draws && loaded.recipe.mining.enabled();
  for (size_t example = 0; example < figures.tasks.size(); ++example) {
    const uint32_t task = figures.tasks[example];
    ++queries[task];
    brings[task] = brings[task] || mines || (draws && BringsExtra(texts, example, needs));
  }
  for (size_t task = 0; task < queries.size(); ++task) {
    if (queries[task] != 1 || brings[task]) continue;
    throw loaded.ErrorAt(
        "sampling.by_task",
        fmt::format("needs two training queries of each task, whose documents are each other's "
                    "negatives; {} has 1: give it more, leave it out, or train without by_task",
                    TaskName(sources, task)));
  }
}

std::string TasksText(std::span<const uint32_t> tasks) {
  std::map<uint32_t, size_t> queries;
  for (const uint32_t task : tasks) ++queries[task];
  const auto [least, most] =
      std::minmax_element(queries.begin(), queries.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("batches are of one task: {} tasks, of {} to {} queries", queries.size(),
                     least->second, most->second);
}

RecipeError TooLongError(const config::LoadedRecipe& loaded, const sampling::LongDraw& longest,
                         const ExampleTexts& texts, const data::TrainingSet& set) {
  const config::Recipe& recipe = loaded.recipe;
  const int64_t negatives = recipe.data.negatives.value_or(0);
  return loaded.ErrorAt(
      "train.batch_tokens",
      fmt::format("is {}, but query {} with its document {}{} has up to {} tokens, more than any "
                  "other: give {} or more, or lower model.max_document_tokens ({}){}",
                  *recipe.train.batch_tokens, set.queries.id(texts.query_texts[longest.draw.query]),
                  set.documents.id(longest.draw.document),
                  negatives > 0 ? fmt::format(" and {} further ones", negatives) : "",
                  longest.tokens, longest.tokens, recipe.model.max_document_tokens.value_or(0),
                  negatives > 0 ? " or data.negatives" : ""));
}

}  // namespace tandem::train
