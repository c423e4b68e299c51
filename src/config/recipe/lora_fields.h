// The fields that say what of a model is trained: those of [model], and the table [lora].
#pragma once

#include "config/recipe/field_info.h"
#include "config/recipe/recipe.h"

namespace tandem::config {

inline constexpr ChoiceInfo kTrained[] = {
    {"all", "every parameter"},
    {"lora", "low-rank adapters of linear maps ([lora]), and a new `projection`"},
    {"head", "the modules after the encoder"}};
inline constexpr FieldCondition kLora = {
    "model.train = \"lora\"", [](const Recipe& recipe) { return recipe.model.train == "lora"; }};
inline constexpr FieldCondition kNewAdapters = {
    "model.train = \"lora\" without model.adapter, which says it itself",
    [](const Recipe& recipe) { return recipe.model.train == "lora" && !recipe.model.adapter; }};

template <MaybeConst<ModelRecipe> R, typename Visitor>
void VisitTrained(R& model, Visitor& visitor) {
  visitor.Field("train", model.train, {.doc = "what is trained", .choices = kTrained});
  visitor.Field("freeze", model.freeze,
                {.doc = "parts that stay as they are: `embeddings`, `layers.3`, `layers.0-5`, "
                        "`relative_bias`, `final_norm`, a module's folder (`2_Dense`); with "
                        "\"lora\", layers that get no new adapters",
                 .unset_doc = "none"});
  visitor.Field("adapter", model.adapter,
                {.doc = "PEFT adapter folder that training goes on from, or a folder of two, "
                        "`query` and `document`",
                 .unset_doc = "new adapters",
                 .on_resume = OnResume::kMayChange,
                 .condition = kLora});
}

template <MaybeConst<LoraRecipe> R, typename Visitor>
void VisitLora(R& lora, Visitor& visitor) {
  visitor.Table("lora", "Low-rank adapters (Hu et al. 2021): a weight counts as W + scale B A");
  visitor.Field("rank", lora.rank,
                {.doc = "rows of A",
                 .range = {1, 4096},
                 .elsewhere = "PEFT: `r`",
                 .condition = kNewAdapters});
  visitor.Field("alpha", lora.alpha,
                {.doc = "the scale is this over `rank`",
                 .range = {1e-6, 1e6},
                 .elsewhere = "PEFT: `lora_alpha`",
                 .condition = kNewAdapters});
  visitor.Field("dropout", lora.dropout,
                {.doc = "share of what A reads that is dropped in training",
                 .range = {0, 0.9},
                 .elsewhere = "PEFT: `lora_dropout`",
                 .condition = kNewAdapters});
  visitor.Field("target_modules", lora.target_modules,
                {.doc = "linear maps that get adapters: last components of their names "
                        "(`q_proj`, `output.dense`), or `all-linear`",
                 .elsewhere = "PEFT: the same key",
                 .condition = kNewAdapters});
  visitor.Field("rslora", lora.rslora,
                {.doc = "the scale is `alpha` over the root of `rank` (Kalajdzievski 2023)",
                 .elsewhere = "PEFT: `use_rslora`",
                 .condition = kNewAdapters});
}

}  // namespace tandem::config
