// The prompts of a run's texts: the model's prompts, or those of its data sets.
#pragma once

#include "config/recipe/recipe.h"
#include "model/dual_encoder.h"
#include "train/inputs/run_data.h"
#include "train/inputs/text_prompts.h"

namespace tandem::train {

struct RunPrompts {
  TextPrompts queries;
  TextPrompts documents;

  const TextPrompts& Of(model::TextKind kind) const {
    return kind == model::TextKind::kQuery ? queries : documents;
  }
};

// Returns the model's own prompts, for all texts.
RunPrompts ModelPrompts(const model::DualEncoder& model);

// Returns the prompts of the texts of data.set: each source's own prompts, or the model's if it has
// none.
RunPrompts TrainingPrompts(const RunData& data, const model::DualEncoder& model);

// Returns the prompts of the texts of data.ValidationCorpus(). Texts of `validation.data` get the
// prompts that the recipe gives them, else the model's; held-out queries and their documents keep
// the prompts of training.
RunPrompts ValidationPrompts(const RunData& data, const config::ValidationRecipe& recipe,
                             const model::DualEncoder& model);

// Returns the prompts of the texts of a [[validation.source]]: those that the recipe gives it, else
// the model's.
RunPrompts SourcePrompts(const config::ValidationSourceRecipe& recipe,
                         const model::DualEncoder& model);

// Notes the prompts of the sources that have their own, and warns if no text is trained with the
// prompt that the model is saved with.
void ReportPrompts(const RunData& data, const model::DualEncoder& model);

}  // namespace tandem::train
