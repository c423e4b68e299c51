#include "config/recipe/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tandem::config {
namespace {

using Prompt = std::optional<std::string> SourceRecipe::*;

// The first source of the task of source `place` that gives the prompt; none: no source does.
std::optional<size_t> GiverOf(const std::vector<SourceRecipe>& sources, size_t place,
                              Prompt prompt) {
  const std::vector<uint32_t> tasks = TasksOfSources(sources);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (tasks[i] == tasks[place] && (sources[i].*prompt).has_value()) return i;
  }
  return std::nullopt;
}

std::optional<std::string> PromptOf(const std::vector<SourceRecipe>& sources, size_t place,
                                    Prompt prompt) {
  const std::optional<size_t> giver = GiverOf(sources, place, prompt);
  return giver ? sources[*giver].*prompt : std::nullopt;
}

void CheckPrompts(const std::vector<SourceRecipe>& sources, Prompt prompt, std::string_view key,
                  std::vector<SourceProblem>& problems) {
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!(sources[i].*prompt).has_value()) continue;
    const size_t giver = *GiverOf(sources, i, prompt);
    if (sources[giver].*prompt == sources[i].*prompt) continue;
    problems.push_back(
        {fmt::format("data.source.{}.{}", i + 1, key),
         fmt::format("is \"{}\", but data.source.{}, of the same task \"{}\", has \"{}\"; the "
                     "sources of a task have one prompt: give the same, or another task",
                     *(sources[i].*prompt), giver + 1, *sources[i].task,
                     *(sources[giver].*prompt))});
  }
}

}  // namespace

std::vector<uint32_t> TasksOfSources(const std::vector<SourceRecipe>& sources) {
  std::vector<uint32_t> tasks;
  uint32_t next = 0;
  for (size_t i = 0; i < sources.size(); ++i) {
    size_t same = 0;
    while (same < i && !(sources[i].task && sources[same].task == sources[i].task)) ++same;
    tasks.push_back(same < i ? tasks[same] : next++);
  }
  return tasks;
}

std::optional<std::string> QueryPromptOf(const std::vector<SourceRecipe>& sources, size_t place) {
  return PromptOf(sources, place, &SourceRecipe::query_prompt);
}

std::optional<std::string> DocumentPromptOf(const std::vector<SourceRecipe>& sources,
                                            size_t place) {
  return PromptOf(sources, place, &SourceRecipe::document_prompt);
}

std::vector<SourceProblem> ProblemsOfSources(const DataRecipe& data) {
  std::vector<SourceProblem> problems;
  CheckPrompts(data.sources, &SourceRecipe::query_prompt, "query_prompt", problems);
  CheckPrompts(data.sources, &SourceRecipe::document_prompt, "document_prompt", problems);
  const auto weighs = [](const SourceRecipe& source) { return source.weight > 0; };
  if (data.mixture == "weight" && !data.sources.empty() &&
      std::none_of(data.sources.begin(), data.sources.end(), weighs)) {
    problems.push_back(
        {"data.source.1.weight", "is 0 like all other weights; at least one must be more"});
  }
  return problems;
}

}  // namespace tandem::config
