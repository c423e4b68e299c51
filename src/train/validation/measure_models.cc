#include "train/validation/measure_models.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/judgements/judged_data.h"
#include "train/inputs/run_prompts.h"
#include "train/objective/training_objective.h"
#include "train/validation/run_validation.h"

namespace tandem::train {
namespace {

config::LoadedRecipe WithRankedValidation(config::LoadedRecipe loaded) {
  const config::ValidationRecipe& validation = loaded.recipe.validation;
  if (!validation.enabled()) {
    throw RecipeError(loaded.file, 0, 0, "validation",
                      "validation is missing: models are compared by it; give validation.data "
                      "(with validation.split) or validation.holdout");
  }
  if (!validation.sources.empty()) {
    throw loaded.ErrorAt(
        "validation.source.1.path",
        "is one of a list, but models are compared by the queries of one data set; "
        "give validation.data or validation.holdout");
  }
  if (validation.by_loss()) {
    throw loaded.ErrorAt("validation.measure",
                         "is \"loss\", which models of different objectives do not share; give a "
                         "measure of the ranking, like \"ndcg@10\"");
  }
  return loaded;
}

std::optional<size_t> Length(const std::optional<int64_t>& tokens) {
  return tokens ? std::optional<size_t>(static_cast<size_t>(*tokens)) : std::nullopt;
}

model::LoadOptions LoadOptionsOf(const RunData& data, const config::ModelRecipe& recipe) {
  std::optional<std::string> query_prompt = recipe.query_prompt;
  if (!query_prompt && !data.query_prompt.empty()) query_prompt = data.query_prompt;
  return {.max_query_tokens = Length(recipe.max_query_tokens),
          .max_document_tokens = Length(recipe.max_document_tokens),
          .query_prompt = std::move(query_prompt),
          .document_prompt = recipe.document_prompt};
}

}  // namespace

ModelMeasurer::ModelMeasurer(config::LoadedRecipe loaded, dist::ProcessGroup* group)
    : run_(ResolveRun(WithRankedValidation(std::move(loaded)), group)),
      data_(ReadRunData(run_.loaded, NeedsOf(run_.recipe().objective))) {}

std::unique_ptr<model::DualEncoder> ModelMeasurer::Load(const std::filesystem::path& folder,
                                                        SettingsOf settings) const {
  model::LoadOptions options;
  if (settings == SettingsOf::kRecipe) options = LoadOptionsOf(data_, run_.recipe().model);
  options.training = {.what = model::Trained::kNothing};
  std::unique_ptr<model::DualEncoder> model = model::DualEncoder::Load(folder, options);
  model->To(run_.device);
  return model;
}

namespace {

Validated MeasureUnlessStopped(Validator& validator, model::DualEncoder& model,
                               const StopRequest& stop) {
  std::optional<Validated> found = validator.Measure(
      model, ObjectiveStates(), [&stop](double) { return StopSignal(stop) == 0; });
  if (!found) throw Interrupted(StopSignal(stop), "interrupted while a model was measured");
  return std::move(*found);
}

}  // namespace

Validated ModelMeasurer::Measure(const std::filesystem::path& folder, SettingsOf settings,
                                 const StopRequest& stop) const {
  const std::unique_ptr<model::DualEncoder> model = Load(folder, settings);
  return MeasureUnlessStopped(*MakeRankingValidator(data_, run_, *model), *model, stop);
}

Validated ModelMeasurer::MeasureOn(const JudgedFolder& data, const std::filesystem::path& folder,
                                   SettingsOf settings, const StopRequest& stop) const {
  const std::unique_ptr<model::DualEncoder> model = Load(folder, settings);
  const data::JudgedData judged = data::LoadJudgedData(data.folder, data.split);
  const auto validator =
      MakeMeasureValidator({.documents = &judged.dataset.documents,
                            .queries = &judged.dataset.queries,
                            .judged = judged.dataset.judged,
                            .qrels = &judged.qrels},
                           {.measure = recipe().validation.measure,
                            .relevance_level = data.relevance_level,
                            .ignore_identical_ids = recipe().validation.ignore_identical_ids},
                           {.prompts = ModelPrompts(*model),
                            .precision = run_.precision,
                            .threads = run_.threads,
                            .group = run_.group});
  return MeasureUnlessStopped(*validator, *model, stop);
}

}  // namespace tandem::train
