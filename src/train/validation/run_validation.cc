#include "train/validation/run_validation.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "eval/measure.h"

namespace tandem::train {

void CheckValidation(const config::LoadedRecipe& loaded) {
  const config::ValidationRecipe& validation = loaded.recipe.validation;
  if (!validation.ranks()) return;
  if (const std::string problem = eval::MeasureProblem(validation.measure); !problem.empty()) {
    throw loaded.ErrorAt("validation.measure", fmt::format("is no measure: {}", problem));
  }
  std::set<std::string> names = {eval::ParseMeasure(validation.measure).name()};
  for (const std::string& measure : validation.report) {
    if (const std::string problem = eval::MeasureProblem(measure); !problem.empty()) {
      throw loaded.ErrorAt("validation.report", fmt::format("names no measure: {}", problem));
    }
    if (!names.insert(eval::ParseMeasure(measure).name()).second) {
      throw loaded.ErrorAt("validation.report",
                           fmt::format("names {} again, which is measured already", measure));
    }
  }
}

std::unique_ptr<Validator> MakeValidator(const Setup& setup) {
  const config::Recipe& recipe = setup.recipe();
  if (!recipe.validation.enabled()) return nullptr;
  const ValidatorOptions options{
      .prompts = ValidationPrompts(setup.data, recipe.validation, *setup.model),
      .precision = setup.precision,
      .threads = setup.threads,
      .group = setup.group};
  if (recipe.validation.by_loss()) {
    return MakeLossValidator(setup.data, setup.loaded, setup.objective, *setup.model, options);
  }
  RankingMeasures measures{.measure = recipe.validation.measure,
                           .report = recipe.validation.report,
                           .relevance_level = setup.data.RelevanceLevel(recipe.data),
                           .seed = static_cast<uint64_t>(recipe.seed),
                           .ignore_identical_ids = recipe.validation.ignore_identical_ids};
  if (recipe.validation.pool) measures.pool = static_cast<size_t>(*recipe.validation.pool);
  return MakeMeasureValidator(setup.data.ValidationCorpus(), measures, options);
}

}  // namespace tandem::train
