// The fields of the table [validation] and of [[validation.source]]. Part of the list in
// recipe_fields.h, which includes this file.
#pragma once

#include <string_view>

#include "config/recipe/field_info.h"
#include "config/recipe/source_fields.h"

namespace tandem::config {

inline constexpr FieldCondition kValidation = {
    "validation.data (with validation.split), validation.holdout or [[validation.source]]",
    [](const Recipe& recipe) { return recipe.validation.enabled(); }};
inline constexpr FieldCondition kRankedValidation = {
    "validation.data, validation.holdout or [[validation.source]], and another validation.measure "
    "than \"loss\", which ranks no documents",
    [](const Recipe& recipe) { return recipe.validation.ranks(); }};
inline constexpr FieldCondition kPooledValidation = {
    "validation.data or validation.holdout, and another validation.measure than \"loss\", which "
    "ranks no documents; a [[validation.source]] has a `pool` of its own",
    [](const Recipe& recipe) {
      return recipe.validation.ranks() && recipe.validation.sources.empty();
    }};
inline constexpr FieldCondition kValidationData = {
    "validation.data; held-out queries keep the prompts that they are trained with",
    [](const Recipe& recipe) { return recipe.validation.data.has_value(); }};
inline constexpr FieldCondition kValidationSplits = {
    "a folder with judgements of several splits as validation.data", [](const Recipe& recipe) {
      return recipe.validation.data.has_value() && !HoldsLines(*recipe.validation.data);
    }};

template <MaybeConst<ValidationSourceRecipe> R, typename Visitor>
void VisitValidationSource(R& source, std::string_view path, Visitor& visitor) {
  constexpr double kMost = 4294967295;
  visitor.Table(path,
                "One of several data sets to validate on, instead of `validation.data`; their mean "
                "decides which model is best");
  visitor.Field(
      "path", source.path,
      {.doc = "data set folder or file", .required = true, .on_resume = OnResume::kMayChange});
  visitor.Field("split", source.split,
                {.doc = "which judgements of a folder", .unset_doc = "`dev`, of a folder"});
  visitor.Field(
      "queries", source.queries,
      {.doc = "measure so many of its judged queries, drawn by `seed`; of two numbers the "
              "smaller one's queries are among the larger one's",
       .unit = "queries",
       .range = {1, kMost},
       .unset_doc = "all"});
  visitor.Field("pool", source.pool,
                {.doc = "rank so many documents of its corpus only, as `validation.pool`",
                 .unit = "documents",
                 .range = {1, kMost},
                 .unset_doc = "the whole corpus"});
  visitor.Field("query_prompt", source.query_prompt,
                {.doc = "text put before its queries", .unset_doc = "`model.query_prompt`"});
  visitor.Field("document_prompt", source.document_prompt,
                {.doc = "text put before its documents", .unset_doc = "`model.document_prompt`"});
}

template <MaybeConst<ValidationRecipe> R, typename Visitor>
void VisitValidation(R& validation, Visitor& visitor) {
  visitor.Table("validation",
                "Measured while training; give `data` (with `split`), `holdout` or "
                "[[validation.source]]");
  visitor.Field("data", validation.data,
                {.doc = "data set folder",
                 .unset_doc = "`holdout` or [[validation.source]] decides; without them nothing is "
                              "validated",
                 .on_resume = OnResume::kMayChange});
  visitor.Field("split", validation.split,
                {.doc = "which judgements of `data`", .condition = kValidationSplits});
  visitor.Field("query_prompt", validation.query_prompt,
                {.doc = "text put before every query of `data`",
                 .unset_doc = "`model.query_prompt`",
                 .condition = kValidationData});
  visitor.Field("document_prompt", validation.document_prompt,
                {.doc = "text put before every document of `data`",
                 .unset_doc = "`model.document_prompt`",
                 .condition = kValidationData});
  visitor.Field("holdout", validation.holdout,
                {.doc = "training queries that are kept out of training",
                 .unit = "queries",
                 .unset_doc = "`data` decides"});
  visitor.Field("measure", validation.measure,
                {.doc = "what decides which model is best: a measure, or \"loss\"",
                 .condition = kValidation});
  visitor.Field("report", validation.report,
                {.doc = "further measures that are written to metrics.jsonl and decide nothing",
                 .unset_doc = "none",
                 .condition = kRankedValidation});
  visitor.Field("pool", validation.pool,
                {.doc = "rank so many documents of the corpus only: those that are judged for the "
                        "validation queries, and others drawn by `seed`",
                 .unit = "documents",
                 .range = {1, 4294967295},
                 .unset_doc = "the whole corpus",
                 .condition = kPooledValidation});
  visitor.Field("ignore_identical_ids", validation.ignore_identical_ids,
                {.doc = "leave out of a query's ranking the document that has its id, unless that "
                        "is judged relevant",
                 .elsewhere = "BEIR: `ignore_identical_ids`, its default",
                 .condition = kRankedValidation});
  visitor.Field("every", validation.every,
                {.doc = "of the run's steps; the last one validates too. A share is rounded up, "
                        "and none validates that is less than a quarter of it before the last",
                 .unit = "steps",
                 .on_resume = OnResume::kMayChange,
                 .condition = kValidation});
  visitor.Field("patience", validation.patience,
                {.doc = "validations without improvement before training stops; 0: never",
                 .unit = "validations",
                 .range = {0, 1e6},
                 .condition = kValidation});
  visitor.List("validation.source", validation.sources,
               [&visitor](auto& source, std::string_view path) {
                 VisitValidationSource(source, path, visitor);
               });
}

}  // namespace tandem::config
