#include "config/recipe/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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

namespace {

std::string LastPart(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().native();
}

bool IsTwice(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) > 1;
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<ValidationSourceRecipe>& sources) {
  std::vector<std::string> names, with_split, unique;
  for (const ValidationSourceRecipe& source : sources) {
    names.push_back(LastPart(source.path));
    with_split.push_back(fmt::format("{}/{}", names.back(), source.split.value_or("dev")));
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    unique.push_back(!IsTwice(names, names[i])             ? names[i]
                     : !IsTwice(with_split, with_split[i]) ? with_split[i]
                                                           : fmt::format("{}/{}", names[i], i + 1));
  }
  return unique;
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
