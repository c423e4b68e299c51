// The keys of the table [data] that change labels and size of the training data, for studies. Part
// of the list in recipe_fields.h, which includes this file.
#pragma once

#include "config/recipe/field_info.h"

namespace tandem::config {

inline constexpr FieldCondition kMinimumGrade = {"data.minimum_grade", [](const Recipe& recipe) {
                                                   return recipe.data.minimum_grade.has_value();
                                                 }};

template <MaybeConst<DataRecipe> R, typename Visitor>
void VisitStudies(R& data, Visitor& visitor) {
  visitor.Field("binarize_at", data.binarize_at,
                {.doc = "grades from here on become 1 and are positive, others 0; instead of "
                        "`positive_grade`",
                 .unset_doc = "off"});
  visitor.Field("minimum_grade", data.minimum_grade,
                {.doc = "documents judged below are left out of training", .unset_doc = "off"});
  visitor.Field(
      "cut_off", data.cut_off,
      {.doc = "what `minimum_grade` keeps", .choices = kCutOffs, .condition = kMinimumGrade});
  visitor.Field("swap_labels", data.swap_labels,
                {.doc = "probability with which a positive and a judged negative of its query "
                        "exchange their grades, to study noise",
                 .range = {0, 1}});
  visitor.Field(
      "flip_labels", data.flip_labels,
      {.doc = "probability with which a grade z becomes 1 - z, to study noise", .range = {0, 1}});
  visitor.Field("limit", data.limit,
                {.doc = "train on so many of the training queries, drawn by `seed` after all "
                        "else that leaves queries out; of two limits the smaller one's queries "
                        "are among the larger one's",
                 .unit = "queries",
                 .range = {1, 4294967295},
                 .unset_doc = "all"});
}

}  // namespace tandem::config
