// The fields of the table [mining]; part of the list in recipe_fields.h, which includes this file
// after it says what a field is.
#pragma once

#include "config/recipe/field_info.h"

namespace tandem::config {

inline constexpr FieldCondition kMining = {
    "mining.every", [](const Recipe& recipe) { return recipe.mining.enabled(); }};

template <MaybeConst<MiningRecipe> R, typename Visitor>
void VisitMining(R& mining, Visitor& visitor) {
  visitor.Table("mining",
                "Hard negatives that the run mines itself, with the weights that it has by then");
  visitor.Field("every", mining.every,
                {.doc = "from one round to the next, of the run's steps; the first is before the "
                        "first step",
                 .unit = "steps",
                 .unset_doc = "nothing is mined"});
  visitor.Field("range", mining.range,
                {.doc = "ranks that negatives come from, FIRST:END; they count from 0 without "
                        "known positives and their copies, and END is not in it",
                 .unit = "ranks",
                 .elsewhere = "sentence-transformers: `range_min`, `range_max`; FlagEmbedding: "
                              "`range_for_sampling`",
                 .condition = kMining});
  visitor.Field("negatives", mining.negatives,
                {.doc = "mined for each query; a step draws `data.negatives` of them",
                 .unit = "documents",
                 .range = {1, 100000},
                 .elsewhere = "sentence-transformers: `num_negatives`; FlagEmbedding: "
                              "`negative_number`",
                 .condition = kMining});
  visitor.Field("absolute_margin", mining.absolute_margin,
                {.doc = "documents that score above the query's lowest positive minus this are "
                        "not mined",
                 .unit = "score units",
                 .range = {0, 1e6},
                 .unset_doc = "off",
                 .elsewhere = "sentence-transformers: `absolute_margin`",
                 .condition = kMining});
  visitor.Field("relative_margin", mining.relative_margin,
                {.doc = "the same, minus this share of that positive's score",
                 .range = {0, 1},
                 .unset_doc = "off",
                 .elsewhere = "sentence-transformers: `relative_margin`",
                 .condition = kMining});
  visitor.Field("random", mining.random,
                {.doc = "draw the negatives from the range, anew in each round, not the best of it",
                 .elsewhere = "sentence-transformers: `sampling_strategy`",
                 .condition = kMining});
  visitor.Field("memory", mining.memory,
                {.doc = "of a round's search; embeddings count too where they fit in half of it, "
                        "and are in a file of the run folder else",
                 .on_resume = OnResume::kMayChange,
                 .condition = kMining});
}

}  // namespace tandem::config
