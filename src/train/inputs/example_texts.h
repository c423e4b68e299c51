// Token ids and numbers of the examples that a run trains or validates on.
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

// The examples `which` of set.examples, with the token ids of their queries, of all documents that
// are judged for them and not left out of training, and of the documents `others`, which a run may
// mine; each text after its prompt of `prompts`. `positive_grade` is the set's.
ExampleTexts MakeExampleTexts(const data::TrainingSet& set, double positive_grade,
                              std::span<const uint32_t> which, const model::DualEncoder& model,
                              const RunPrompts& prompts, int threads,
                              std::span<const uint32_t> others = {});

sampling::SamplerOptions SamplerOptionsOf(const config::Recipe& recipe,
                                          const objective::Needs& needs = {});
sampling::MaskRules MaskRulesOf(const config::Recipe& recipe);

}  // namespace tandem::train
