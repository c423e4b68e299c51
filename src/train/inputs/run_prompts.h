// What stands before the texts of a run: the model's prompts, or those of its data sets.
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

// The model's own, for all texts.
RunPrompts ModelPrompts(const model::DualEncoder& model);

// Of data.set's texts: each source's own prompts, the model's where it has none.
RunPrompts TrainingPrompts(const RunData& data, const model::DualEncoder& model);

// Of the texts of data.ValidationCorpus(): those of `validation.data` have the recipe's prompts for
// it, else the model's; held-out queries and their documents keep those of training.
RunPrompts ValidationPrompts(const RunData& data, const config::ValidationRecipe& recipe,
                             const model::DualEncoder& model);

// Notes the prompts of the sources that have their own, and warns where no text is trained with the
// prompt that the model is saved with.
void ReportPrompts(const RunData& data, const model::DualEncoder& model);

}  // namespace tandem::train
