// Makes the token ids and labels of the examples that a run trains or validates on.
#pragma once

#include <cstdint>
#include <span>

#include "config/recipe/recipe.h"
#include "data/training_set.h"
#include "model/dual_encoder.h"
#include "sampling/masks.h"
#include "sampling/sampler.h"
#include "train/inputs/run_prompts.h"
#include "train/step/batch.h"

namespace tandem::train {

// Makes the examples `which` of set.examples. Token ids are made of their queries, of all documents
// that are judged for them and not left out of training, and of the documents `others`, which a run
// may mine. Each text is preceded by its prompt of `prompts`. `positive_grade` is that of the set.
// `shared`: ids that it has are taken from it, others left in it; null: all are made.
ExampleTexts MakeExampleTexts(const data::TrainingSet& set, double positive_grade,
                              std::span<const uint32_t> which, const model::DualEncoder& model,
                              const RunPrompts& prompts, int threads,
                              std::span<const uint32_t> others = {},
                              SharedTokens* shared = nullptr);

sampling::SamplerOptions SamplerOptionsOf(const config::Recipe& recipe,
                                          const objective::Needs& needs = {});
sampling::MaskRules MaskRulesOf(const config::Recipe& recipe);

}  // namespace tandem::train
