// The fields of the table [data.masks]: which cells of a batch count as negatives. Part of the list
// in recipe_fields.h, which includes this file.
#pragma once

#include "config/recipe/field_info.h"

namespace tandem::config {

inline constexpr FieldCondition kCopiesInBatch = {
    "sampling.no_duplicates = false, or data.masks.known_positives = true: copies are kept apart "
    "otherwise, and masked where they must meet",
    [](const Recipe& recipe) {
      return !recipe.sampling.keeps_copies_apart() || recipe.data.masks.known_positives;
    }};
inline constexpr FieldCondition kSameQueryInBatch = {
    "sampling.no_duplicates = false: a query's copies are kept apart otherwise, and masked where "
    "they must meet",
    [](const Recipe& recipe) { return !recipe.sampling.keeps_copies_apart(); }};

template <MaybeConst<MaskRecipe> R, typename Visitor>
void VisitMasks(R& masks, Visitor& visitor) {
  visitor.Table("data.masks", "What must not count as a negative of a query");
  visitor.Field(
      "copies", masks.copies,
      {.doc = "copies of its paired document (same id or same text)", .condition = kCopiesInBatch});
  visitor.Field("known_positives", masks.known_positives,
                {.doc = "all its positives, not only the sampled one"});
  visitor.Field("same_query", masks.same_query,
                {.doc = "the positives of other rows with the same query text",
                 .condition = kSameQueryInBatch});
  visitor.Field("query_text", masks.query_text,
                {.doc = "documents whose text is the query's own; nor are they drawn or mined as "
                        "its negatives"});
  visitor.Field("in_batch", masks.in_batch,
                {.doc = "false: the documents that other queries have brought into the batch, so "
                        "that a query has its own judged and mined negatives alone",
                 .elsewhere = "FlagEmbedding: `no_in_batch_neg_flag`"});
  visitor.Field("false_negative_score", masks.false_negative_score,
                {.doc = "documents that score above are no negatives",
                 .unit = "score units",
                 .unset_doc = "off"});
  visitor.Field(
      "false_negative_absolute_margin", masks.false_negative_absolute_margin,
      {.doc = "documents that score above the paired document's score minus this are no negatives",
       .unit = "score units",
       .range = {0, 1e6},
       .unset_doc = "off"});
  visitor.Field(
      "false_negative_relative_margin", masks.false_negative_relative_margin,
      {.doc = "the same, but this is a share of the paired document's score (NV-Retriever: 0.05)",
       .range = {0, 10},
       .unset_doc = "off"});
  visitor.Field("same_tower_score", masks.same_tower_score,
                {.doc = "same-tower cells that score above are no negatives: queries that lie so "
                        "near to each other, and paired documents likewise (SamToNe section 6)",
                 .unit = "score units",
                 .unset_doc = "off"});
}

}  // namespace tandem::config
