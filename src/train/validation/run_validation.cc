#include "train/validation/run_validation.h"

namespace tandem::train {

std::unique_ptr<Validator> MakeValidator(const RunInputs& inputs,
                                         const TrainingObjective& objective) {
  const ResolvedRun& run = inputs.run;
  const config::Recipe& recipe = run.recipe();
  if (!recipe.validation.enabled()) return nullptr;
  const ValidatorOptions options{
      .prompts = ValidationPrompts(inputs.data, recipe.validation, *inputs.model),
      .precision = run.precision,
      .threads = run.threads,
      .group = run.group};
  if (recipe.validation.by_loss()) {
    return MakeLossValidator(inputs.data, run.loaded, objective, *inputs.model, options);
  }
  RankingMeasures measures{.measure = recipe.validation.measure,
                           .report = recipe.validation.report,
                           .relevance_level = inputs.data.RelevanceLevel(recipe.data),
                           .seed = static_cast<uint64_t>(recipe.seed),
                           .ignore_identical_ids = recipe.validation.ignore_identical_ids};
  if (recipe.validation.pool) measures.pool = static_cast<size_t>(*recipe.validation.pool);
  return MakeMeasureValidator(inputs.data.ValidationCorpus(), measures, options);
}

}  // namespace tandem::train
