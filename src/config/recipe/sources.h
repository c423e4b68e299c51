// Computes the facts that depend on all tables [[data.source]] of a recipe: their tasks and
// prompts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/recipe.h"

namespace tandem::config {

// The task of each source, numbered from 0 as they come: sources with the same `task` are one, a
// source without one is a task of its own.
std::vector<uint32_t> TasksOfSources(const std::vector<SourceRecipe>& sources);

// The prompt that the recipe gives source `place`: its own, else that of another source of its
// task. None means that the recipe gives none; then the source's lines or the model say it.
std::optional<std::string> QueryPromptOf(const std::vector<SourceRecipe>& sources, size_t place);
std::optional<std::string> DocumentPromptOf(const std::vector<SourceRecipe>& sources, size_t place);

struct SourceProblem {
  std::string key;  // "data.source.2.query_prompt"
  std::string text;
};

// Mistakes that no single key shows: weights that are all 0, sources of one task that give it
// different prompts.
std::vector<SourceProblem> ProblemsOfSources(const DataRecipe& data);

// A name for each data set to validate on, by which logs tell them apart: the last part of its
// path; where others have the same, its split with it, and where that is not enough, its number.
std::vector<std::string> NamesOf(const std::vector<ValidationSourceRecipe>& sources);

}  // namespace tandem::config
