#include "train/run/run_end.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json.h"
#include "base/log.h"
#include "config/recipe/sources.h"
#include "report/records/metrics_row.h"
#include "train/checks/extension.h"
#include "train/run/checkpoint.h"
#include "train/run/run_records.h"

namespace tandem::train {
namespace {

// The data of validation: "data/mine, split dev", "held-out queries of data/pairs".
std::string MeasuredOn(const config::Recipe& recipe) {
  if (!recipe.validation.sources.empty()) {
    return fmt::format("the mean of {}",
                       fmt::join(config::NamesOf(recipe.validation.sources), ", "));
  }
  const bool own = recipe.validation.data.has_value();
  std::vector<std::string> names = own ? std::vector{*recipe.validation.data} : recipe.data.paths();
  for (std::string& name : names) name = PortablePath(name);
  const std::string name = fmt::format("{}", fmt::join(names, ", "));
  return own ? fmt::format("{}, split {}", name, recipe.validation.split)
             : fmt::format("held-out queries of {}", name);
}

// Returns the scale and bias that the objective learned; none if it learns none. The base model's
// are not written then, because they do not fit the trained model's scores.
std::optional<weights::Calibration> CalibrationOf(const Trainer& trainer) {
  std::optional<weights::Calibration> calibration = trainer.states.Calibration();
  if (!calibration) return std::nullopt;
  calibration->objective = trainer.recipe().objective.name;
  calibration->similarity = trainer.objective.similarity;
  return calibration;
}

// `validation` has the results of the run's validations; null: the run has none. `saved_step` is
// the step whose weights are saved.
weights::ModelCard CardOf(const Trainer& trainer, const ValidationState* validation,
                          int64_t saved_step) {
  const config::Recipe& recipe = trainer.recipe();
  weights::ModelCard card{.base_model = PortablePath(recipe.model.base),
                          .objective = recipe.objective.name,
                          .steps = saved_step};
  const config::TrainRecipe& train = recipe.train;
  card.facts = {
      {train.batch ? "queries a step" : "tokens a step, at most",
       fmt::format("{}", train.batch.value_or(train.batch_tokens.value_or(0)) * train.accumulate)},
      {"optimizer", recipe.optimizer.name},
      {"learning rate", fmt::format("{}", recipe.optimizer.learning_rate)},
      {"schedule", recipe.schedule.name},
      {"training queries", fmt::format("{}", trainer.inputs.data.training.size())},
      {"precision", recipe.precision},
      {"seed", fmt::format("{}", recipe.seed)}};
  if (validation != nullptr) {
    card.measured_on = MeasuredOn(recipe);
    card.measures = {{.name = trainer.validator->name(),
                      .before = validation->base_value,
                      .after = *validation->best_value}};
  }
  return card;
}

// Warns at the end of a run if no validation was better than that of the base model.
void WarnOfNoImprovement(const std::string& measure, const ValidationState& validation) {
  if (validation.best_step > 0 || !validation.base_value || !validation.best_trained_value) return;
  Warn(
      fmt::format("no step was better than the model before training: {} was {:.4f} at step 0 and "
                  "at best {:.4f} after that (step {}), so that the saved model is the base model; "
                  "try a lower optimizer.learning_rate, more or other data, or another objective",
                  measure, *validation.base_value, *validation.best_trained_value,
                  validation.best_trained_step));
}

// Returns the last line of metrics.jsonl; none if the file has none, or the line is cut or unknown.
std::optional<report::MetricsRow> LastRow(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.metrics())) return std::nullopt;
  std::string text = ReadFile(folder.metrics());
  if (!text.ends_with('\n')) return std::nullopt;
  text.pop_back();
  const size_t before = text.rfind('\n');
  return report::ReadMetricsRow(
      std::string_view(text).substr(before == std::string::npos ? 0 : before + 1));
}

// ", ndcg@10 0.8562 on data/mine, split dev"; "" without validation.
std::string ValueText(const Trainer& trainer, const ValidationState* validation) {
  if (validation == nullptr) return "";
  return fmt::format(", {} {:.4f} on {}", trainer.validator->name(), *validation->best_value,
                     MeasuredOn(trainer.recipe()));
}

// Writes the best weights, or without validation those of now, as the run's model, which says where
// its run was stopped. Returns their step.
int64_t WriteModel(const Trainer& trainer, const RunFolder& folder, const LoopState& state,
                   const ValidationState* validation,
                   const std::optional<weights::StoppedRun>& stopped) {
  const int64_t step = validation != nullptr ? validation->best_step : state.step;
  if (validation != nullptr) {
    LoadWeights(folder.Best(step), SavedParameters(trainer.model(), trainer.states));
  }
  trainer.model().set_calibration(CalibrationOf(trainer));
  weights::ModelCard card = CardOf(trainer, validation, step);
  card.stopped = stopped;
  trainer.model().Save(folder.model(), card);
  if (trainer.model().adapted()) {
    const config::ModelRecipe& recipe = trainer.recipe().model;
    trainer.model().SaveAdapter(
        folder.adapter(),
        {PortablePath(recipe.base), PortablePath(recipe.document_base.value_or(recipe.base))});
  }
  return step;
}

// What the model of a run has whose every step was worse than its beginning.
std::string BaseText(const config::ModelRecipe& model) {
  const std::string name = PortablePath(model.base);
  return model.layers ? fmt::format("the first {} layers of the base model {} as they were",
                                    *model.layers, name)
                      : fmt::format("the base model {} as it was", name);
}

// Which weights the model of a stopped run has.
std::string WhichModel(int64_t step, const ValidationState* validation) {
  if (validation == nullptr) return fmt::format("of step {}", step);
  if (step > 0) return fmt::format("the best, of step {}", step);
  return validation->best_trained_value ? "the base model, since no step was better"
                                        : "the base model, since no step has been validated yet";
}

}  // namespace

void SaveModel(const Trainer& trainer, const RunFolder& folder, const LoopState& state,
               const ValidationState* validation, LineLog& metrics) {
  const int64_t step = WriteModel(trainer, folder, state, validation, std::nullopt);
  report::FinishedRow row{.step = state.step, .model_step = step};
  if (validation != nullptr) row.best = {{trainer.validator->name(), *validation->best_value}};
  metrics.Write(report::ToJson(row));
  metrics.Sync();
  Note(fmt::format("{}: {}{}{}", folder.model().native(),
                   step > 0 ? fmt::format("the model of step {}", step)
                            : BaseText(trainer.recipe().model) + ", because no step was better",
                   ValueText(trainer, validation),
                   trainer.model().adapted()
                       ? fmt::format("; its adapters are in {}", folder.adapter().native())
                       : ""));
  if (validation != nullptr) WarnOfNoImprovement(trainer.validator->name(), *validation);
}

std::string SaveStoppedModel(const Trainer& trainer, const RunFolder& folder,
                             const LoopState& state, const RunPlan& plan,
                             const ValidationState* validation) {
  if (state.step == 0 || (validation != nullptr && !validation->best_value)) return "";
  const int64_t steps = plan.by_progress ? 0 : plan.steps;
  try {
    const int64_t step =
        WriteModel(trainer, folder, state, validation, weights::StoppedRun{state.step, steps});
    return fmt::format("; {} is the model so far, {}{}", folder.model().native(),
                       WhichModel(step, validation), ValueText(trainer, validation));
  } catch (const OutputError& error) {
    return fmt::format("; its model so far could not be written: {}", error.what());
  }
}

void DropCheckpoints(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder) {
  if (plan.drops_checkpoints) folder.KeepOnly(StartOfLongerRun(trainer, plan, folder));
}

bool IsFinished(const RunFolder& folder) {
  const std::optional<int64_t> checkpoint = folder.LatestCheckpoint();
  if (!checkpoint || !std::filesystem::exists(folder.model())) return false;
  const std::optional<report::MetricsRow> row = LastRow(folder);
  const auto* finished = row ? std::get_if<report::FinishedRow>(&*row) : nullptr;
  return finished != nullptr && finished->step == *checkpoint;
}

}  // namespace tandem::train
