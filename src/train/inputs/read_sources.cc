#include "train/inputs/read_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "config/recipe/recipe_fields.h"
#include "config/recipe/sources.h"
#include "data/dataset_union.h"
#include "data/read_dataset.h"
#include "train/inputs/label_keys.h"

namespace tandem::train {
namespace {

using config::SourceRecipe;
using Sources = std::vector<SourceRecipe>;

// Throws RecipeError if the recipe asks for a split of a file, because only folders have splits.
void CheckSplit(const config::LoadedRecipe& loaded, size_t place) {
  const SourceRecipe& source = loaded.recipe.data.sources[place];
  if (!source.split || config::IsFolder(source.format, source.path)) return;
  throw loaded.ErrorAt(
      fmt::format("data.source.{}.split", place + 1),
      fmt::format("does nothing here: {} is a file of lines, which has no splits", source.path));
}

std::string SplitOf(const SourceRecipe& source) { return source.split.value_or("train"); }

bool IsSamePath(const std::string& one, const std::string& other) {
  std::error_code error;
  return std::filesystem::equivalent(one, other, error);
}

// Warns if two sources have the same judgements.
void WarnOfCopies(const Sources& sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (!IsSamePath(sources[i].path, sources[earlier].path)) continue;
      if (SplitOf(sources[i]) != SplitOf(sources[earlier])) continue;
      Warn(
          fmt::format("data.source.{} is data.source.{} again, so that an epoch has its queries "
                      "twice; data.mixture = \"weight\" gives a source a larger share",
                      i + 1, earlier + 1));
      break;
    }
  }
}

// Returns the first source that is the same folder with the same prompts; none if `place` is the
// first.
std::optional<size_t> SameFolder(const Sources& sources, size_t place) {
  if (!config::IsFolder(sources[place].format, sources[place].path)) return std::nullopt;
  for (size_t i = 0; i < place; ++i) {
    if (IsSamePath(sources[i].path, sources[place].path) &&
        config::QueryPromptOf(sources, i) == config::QueryPromptOf(sources, place) &&
        config::DocumentPromptOf(sources, i) == config::DocumentPromptOf(sources, place)) {
      return i;
    }
  }
  return std::nullopt;
}

// Reads source `place` and adds it to `all`. Returns the query prompt that its lines give.
std::string ReadInto(data::DatasetUnion& all, const config::LoadedRecipe& loaded,
                     const objective::Needs& needs, size_t place) {
  const Sources& sources = loaded.recipe.data.sources;
  const SourceRecipe& source = sources[place];
  data::Dataset part =
      data::ReadDataset(source.path, source.format, SplitOf(source), LineRulesOf(loaded));
  UseScores(part, loaded, needs);
  std::string prompt = part.query_prompt;
  const std::string size = fmt::format("source {}: {} judged queries, {} documents", source.path,
                                       part.judged.size(), part.documents.size());
  const std::optional<size_t> same = SameFolder(sources, place);
  all.Add(LabelSource(std::move(part), loaded, needs), same);
  Note(all.shares(place) ? fmt::format("{}, those of data.source.{}", size, *same + 1) : size);
  return prompt;
}

// Gives each source its prompts: those of the recipe, else the query prompt of its lines. If the
// recipe gives no query prompt and all lines have the same one, it becomes the run's.
void SetPrompts(const Sources& sources, const std::vector<std::string>& of_lines, RunData& data) {
  bool given = false;
  for (size_t i = 0; i < sources.size(); ++i) {
    data.sources[i].query_prompt = config::QueryPromptOf(sources, i);
    data.sources[i].document_prompt = config::DocumentPromptOf(sources, i);
    given = given || data.sources[i].query_prompt;
  }
  const auto is_first = [&](const std::string& prompt) { return prompt == of_lines.front(); };
  if (!given && std::all_of(of_lines.begin(), of_lines.end(), is_first)) {
    data.query_prompt = of_lines.front();
    return;
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    std::optional<std::string>& prompt = data.sources[i].query_prompt;
    if (!prompt && !of_lines[i].empty()) prompt = of_lines[i];
    if (!of_lines[i].empty() && prompt != of_lines[i]) {
      Note(
          fmt::format("source {}: the query prompt is the recipe's, \"{}\", not that of its lines, "
                      "\"{}\"",
                      sources[i].path, *prompt, of_lines[i]));
    }
  }
}

}  // namespace

void ReadSources(const config::LoadedRecipe& loaded, const objective::Needs& needs, RunData& data) {
  const Sources& sources = loaded.recipe.data.sources;
  for (size_t i = 0; i < sources.size(); ++i) CheckSplit(loaded, i);
  WarnOfCopies(sources);
  data::DatasetUnion all;
  std::vector<std::string> of_lines;
  for (size_t i = 0; i < sources.size(); ++i) {
    of_lines.push_back(ReadInto(all, loaded, needs, i));
    const data::UnionPart& part = all.parts()[i];
    data.sources.push_back({.path = sources[i].path,
                            .first_query = part.first_query,
                            .first_document = part.first_document,
                            .query_prompt = {},
                            .document_prompt = {}});
  }
  SetPrompts(sources, of_lines, data);
  data.set = MakeTrainingSetOfSources(all.Take(), loaded, needs);
}

void CheckEverySourceTrains(const config::LoadedRecipe& loaded, const RunData& data) {
  const config::DataRecipe& recipe = loaded.recipe.data;
  std::vector<bool> trains(data.sources.size());
  for (const uint32_t e : data.training) trains[data.set.examples[e].source] = true;
  for (size_t i = 0; i < recipe.sources.size(); ++i) {
    if (trains[i] || (recipe.mixture == "weight" && recipe.sources[i].weight == 0)) continue;
    throw DataError(
        recipe.sources[i].path, 0, "",
        fmt::format("data.source.{} brings no query to train on: none has a positive, or "
                    "validation.holdout, data.minimum_grade, data.flip_labels or data.limit left "
                    "none; look at it with `tandem inspect`, or take it out of the recipe",
                    i + 1));
  }
}

std::vector<uint32_t> SourcesOf(const RunData& data) {
  std::vector<uint32_t> sources;
  for (const uint32_t e : data.training) sources.push_back(data.set.examples[e].source);
  return sources;
}

}  // namespace tandem::train
