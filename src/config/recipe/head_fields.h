// The fields of [model] that say what happens after the encoder.
#pragma once

#include "config/recipe/field_info.h"
#include "config/recipe/recipe.h"

namespace tandem::config {

inline constexpr ChoiceInfo kPoolings[] = {
    {"cls", "the first row"},
    {"max", "the largest number of each column"},
    {"mean", "the mean"},
    {"mean_sqrt_len_tokens", "the sum over the square root of their number"},
    {"weightedmean", "the mean with weights 1, 2, ... in their order"},
    {"lasttoken", "the last row"}};
inline constexpr FieldCondition kSeveralWidths = {
    "model.dimensions", [](const Recipe& recipe) { return !recipe.model.dimensions.empty(); }};

template <MaybeConst<ModelRecipe> R, typename Visitor>
void VisitPooling(R& model, Visitor& visitor) {
  visitor.Field("pooling", model.pooling,
                {.doc = "how the rows of a text's tokens become one",
                 .choices = kPoolings,
                 .unset_doc = "the folder's",
                 .elsewhere = "sentence-transformers: `pooling_mode`"});
  visitor.Field("include_prompt", model.include_prompt,
                {.doc = "whether pooling takes the prompt's tokens in",
                 .unset_doc = "the folder's",
                 .elsewhere = "sentence-transformers: `include_prompt` of its Pooling"});
}

template <MaybeConst<ModelRecipe> R, typename Visitor>
void VisitDimensions(R& model, Visitor& visitor) {
  visitor.Field(
      "dimensions", model.dimensions,
      {.doc = "the objective judges embeddings cut to each of these widths, so that users "
              "may cut them too (Matryoshka); the loss is the sum",
       .unit = "numbers",
       .range = {1, 65536},
       .unset_doc = "the full width alone",
       .elsewhere = "sentence-transformers: `matryoshka_dims` of MatryoshkaLoss"});
  visitor.Field("dimension_weights", model.dimension_weights,
                {.doc = "what the loss of each of `dimensions` counts in the sum",
                 .range = {1e-6, 1e6},
                 .unset_doc = "1 each",
                 .elsewhere = "sentence-transformers: `matryoshka_weights`",
                 .condition = kSeveralWidths});
}

}  // namespace tandem::config
