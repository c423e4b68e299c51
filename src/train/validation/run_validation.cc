#include "train/validation/run_validation.h"

#include <utility>
#include <vector>

#include "train/validation/mean_validator.h"

namespace tandem::train {
namespace {

ValidatorOptions OptionsOf(const RunData& data, const ResolvedRun& run,
                           const model::DualEncoder& model) {
  return {.prompts = ValidationPrompts(data, run.recipe().validation, model),
          .precision = run.precision,
          .threads = run.threads,
          .group = run.group};
}

}  // namespace

namespace {

// One validator for each [[validation.source]]; all of them have `measures`, but pools of their
// own.
std::unique_ptr<Validator> OfSources(const RunData& data, const ResolvedRun& run,
                                     const model::DualEncoder& model, RankingMeasures measures) {
  std::vector<ValidatorOfSource> validators;
  for (size_t i = 0; i < data.validation_sources.size(); ++i) {
    const config::ValidationSourceRecipe& recipe = run.recipe().validation.sources[i];
    const ValidationSource& source = data.validation_sources[i];
    measures.source = source.name;
    measures.pool.reset();
    if (recipe.pool) measures.pool = static_cast<size_t>(*recipe.pool);
    ValidatorOptions options = OptionsOf(data, run, model);
    options.prompts = SourcePrompts(recipe, model);
    validators.push_back({source.name, MakeMeasureValidator(source.Corpus(), measures, options)});
  }
  return MakeMeanValidator(std::move(validators));
}

}  // namespace

std::unique_ptr<Validator> MakeRankingValidator(const RunData& data, const ResolvedRun& run,
                                                const model::DualEncoder& model) {
  const config::Recipe& recipe = run.recipe();
  RankingMeasures measures{.measure = recipe.validation.measure,
                           .report = recipe.validation.report,
                           .relevance_level = data.RelevanceLevel(recipe.data),
                           .seed = static_cast<uint64_t>(recipe.seed),
                           .ignore_identical_ids = recipe.validation.ignore_identical_ids};
  if (!data.validation_sources.empty()) return OfSources(data, run, model, std::move(measures));
  if (recipe.validation.pool) measures.pool = static_cast<size_t>(*recipe.validation.pool);
  return MakeMeasureValidator(data.ValidationCorpus(), measures, OptionsOf(data, run, model));
}

std::unique_ptr<Validator> MakeValidator(const RunInputs& inputs,
                                         const TrainingObjective& objective) {
  const ResolvedRun& run = inputs.run;
  const config::ValidationRecipe& recipe = run.recipe().validation;
  if (!recipe.enabled()) return nullptr;
  if (!recipe.by_loss()) return MakeRankingValidator(inputs.data, run, *inputs.model);
  return MakeLossValidator(inputs.data, run.loaded, objective, *inputs.model,
                           OptionsOf(inputs.data, run, *inputs.model));
}

}  // namespace tandem::train
