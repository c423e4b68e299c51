// The fields of [[data.source]], and conditions that ask what a recipe trains on.
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/recipe/field_info.h"
#include "config/recipe/recipe.h"

namespace tandem::config {

inline constexpr ChoiceInfo kDataFormats[] = {
    {"auto", "told from the files"},
    {"beir", "a folder of corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv"},
    {"sentence_transformers", "JSONL with the columns anchor, positive, negative, ..., score"},
    {"flag_embedding", "JSONL with query, pos, neg, pos_scores, neg_scores, prompt"},
    {"tevatron", "JSONL with query_id, query, positive_passages, negative_passages"}};
inline constexpr ChoiceInfo kMixtures[] = {
    {"size", "as it has queries: all of them in one random order"},
    {"weight", "by its `weight`"},
    {"round_robin", "all the same: their queries come in turn"}};

// The conditions of fields. Conditions on data look at the file system: a file holds lines,
// anything else is taken for a folder of documents, queries and judgements (reading it says so if
// it is not).
inline bool HoldsLines(const std::string& path) { return std::filesystem::is_regular_file(path); }
inline bool IsFolder(const std::string& format, const std::string& path) {
  return format == "beir" || (format == "auto" && !HoldsLines(path));
}
inline bool TrainsOnFolder(const Recipe& recipe) {
  return recipe.data.sources.empty() && IsFolder(recipe.data.format, recipe.data.train);
}
inline bool TrainsOnLines(const Recipe& recipe) {
  const std::vector<SourceRecipe>& sources = recipe.data.sources;
  if (sources.empty()) return !TrainsOnFolder(recipe);
  return std::any_of(sources.begin(), sources.end(), [](const SourceRecipe& source) {
    return !IsFolder(source.format, source.path);
  });
}

inline constexpr FieldCondition kTrainingSplits = {
    "a folder with judgements of several splits as data.train; a file of lines has none",
    TrainsOnFolder};
inline constexpr FieldCondition kTrainingLines = {
    "a file of lines as data.train; a folder has its grades in its judgements", TrainsOnLines};
inline constexpr FieldCondition kLines = {
    "a file of lines as data.train, or to validate on", [](const Recipe& recipe) {
      const ValidationRecipe& validation = recipe.validation;
      return TrainsOnLines(recipe) || (validation.data && HoldsLines(*validation.data)) ||
             std::any_of(validation.sources.begin(), validation.sources.end(),
                         [](const auto& source) { return HoldsLines(source.path); });
    }};
inline constexpr FieldCondition kNoSources = {
    "a recipe without [[data.source]], which names several data sets",
    [](const Recipe& recipe) { return recipe.data.sources.empty(); }};
inline constexpr FieldCondition kSeveralSources = {
    "several [[data.source]]", [](const Recipe& recipe) { return recipe.data.sources.size() > 1; }};
inline constexpr FieldCondition kMixtureByWeight = {
    "data.mixture = \"weight\"",
    [](const Recipe& recipe) { return recipe.data.mixture == "weight"; }};

template <MaybeConst<SourceRecipe> R, typename Visitor>
void VisitSource(R& source, std::string_view path, Visitor& visitor) {
  visitor.Table(path,
                "One of several data sets to train on, instead of `data.train`; "
                "`data.mixture` says how much of an epoch each of them is");
  visitor.Field(
      "path", source.path,
      {.doc = "data set folder or file", .required = true, .on_resume = OnResume::kMayChange});
  visitor.Field("format", source.format, {.doc = "its format", .choices = kDataFormats});
  visitor.Field("split", source.split,
                {.doc = "which judgements of a folder", .unset_doc = "`train`, of a folder"});
  visitor.Field("weight", source.weight,
                {.doc = "its share of an epoch is this over the sum of all weights",
                 .range = {0, 1e9},
                 .condition = kMixtureByWeight});
  visitor.Field("task", source.task,
                {.doc = "sources of one name are one task: they have the same prompts, and "
                        "`sampling.by_task` may put them into one batch",
                 .unset_doc = "a task of its own"});
  visitor.Field("query_prompt", source.query_prompt,
                {.doc = "text put before its queries",
                 .unset_doc = "its task's, else that of its lines, else `model.query_prompt`"});
  visitor.Field("document_prompt", source.document_prompt,
                {.doc = "text put before its documents",
                 .unset_doc = "its task's, else `model.document_prompt`"});
}

}  // namespace tandem::config
