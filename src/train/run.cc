#include "train/run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "config/recipe_text.h"
#include "objective/catalogue.h"
#include "train/checkpoint.h"
#include "train/loop.h"
#include "train/run_folder.h"
#include "train/run_lock.h"
#include "train/setup.h"

namespace tandem::train {
namespace {

// Compares with the recipe that the run was started with, if it got that far.
void CheckSameRecipe(const Setup& setup, const RunFolder& folder) {
  if (!std::filesystem::exists(folder.recipe())) return;
  const config::LoadedRecipe before =
      config::ParseRecipe(ReadFile(folder.recipe()), folder.recipe().native(), {},
                          {objective::ObjectiveEntries(), optim::OptimizerEntries()});
  const std::vector<std::string> changed = config::ChangedKeys(before.recipe, setup.recipe());
  if (changed.empty()) return;
  throw setup.loaded.ErrorAt(
      changed.front(),
      fmt::format("differs from what the run in {} was started with (all that differ: {}); a "
                  "resumed run may change only paths, logging and how often it validates and saves",
                  folder.path().native(), fmt::join(changed, ", ")));
}

// With the checkpoint of `step`, which is resumed. Another tokenizer makes another base of the same
// data, so data come first.
void CheckSameInputs(const Setup& setup, const RunFolder& folder, int64_t step) {
  const nlohmann::json state = ReadState(folder.Checkpoint(step));
  if (state.value("data_fingerprint", uint64_t{0}) != setup.data.fingerprint) {
    throw DataError(setup.recipe().data.train, 0, "",
                    fmt::format("its documents, queries or judgements are not those that the run "
                                "in {} was started with; give the same data, or start a new run",
                                folder.path().native()));
  }
  if (state.value("base_fingerprint", uint64_t{0}) != setup.base_fingerprint) {
    throw ModelError(setup.recipe().model.base, "",
                     fmt::format("its weights, settings or tokenizer are not those of the model "
                                 "that the run in {} was started with; give the same model, or "
                                 "start a new run",
                                 folder.path().native()));
  }
}

uint64_t MetricsBytes(const RunFolder& folder, const std::optional<int64_t>& checkpoint) {
  if (!checkpoint) return 0;
  const nlohmann::json state = ReadState(folder.Checkpoint(*checkpoint));
  return state.value("/loop/metrics_bytes"_json_pointer, uint64_t{0});
}

// What turns the model's scores into probabilities; nothing where nothing does.
std::optional<weights::Calibration> CalibrationOf(const Setup& setup) {
  if (setup.goal.states == nullptr) return std::nullopt;
  std::optional<weights::Calibration> calibration = setup.goal.states->Calibration();
  if (!calibration) return std::nullopt;
  calibration->objective = setup.recipe().objective.name;
  calibration->similarity = setup.goal.similarity;
  return calibration;
}

weights::ModelCard CardOf(const Setup& setup, const LoopState& state, int64_t saved_step) {
  const config::Recipe& recipe = setup.recipe();
  weights::ModelCard card{
      .base_model = std::filesystem::path(recipe.model.base).lexically_normal().native(),
      .objective = recipe.objective.name,
      .steps = saved_step};
  card.facts = {{"queries a step", fmt::format("{}", recipe.train.batch * recipe.train.accumulate)},
                {"optimizer", recipe.optimizer.name},
                {"learning rate", fmt::format("{}", recipe.optimizer.learning_rate)},
                {"schedule", recipe.schedule.name},
                {"training queries", fmt::format("{}", setup.data.training.size())},
                {"precision", recipe.precision},
                {"seed", fmt::format("{}", recipe.seed)}};
  if (setup.validator != nullptr && state.best_step > 0) {
    const bool own = recipe.validation.data.has_value();
    const std::filesystem::path path(own ? *recipe.validation.data : recipe.data.train);
    const std::string name = path.lexically_normal().filename().native();
    card.measured_on = own ? fmt::format("{}, split {}", name, recipe.validation.split)
                           : fmt::format("held-out queries of {}", name);
    card.measures = {{.name = setup.validator->name(), .after = state.best_value}};
  }
  card.calibration = CalibrationOf(setup);
  return card;
}

// The best weights become the run's model; that is the last thing that a run does.
void SaveModel(Setup& setup, const RunFolder& folder, const LoopState& state, LineLog& metrics) {
  const int64_t step = state.best_step > 0 ? state.best_step : state.step;
  if (state.best_step > 0) {
    LoadWeights(folder.Best(step), SavedParameters(*setup.model, setup.goal));
  }
  nlohmann::ordered_json line = {{"step", state.step}, {"finished", true}, {"model_step", step}};
  if (state.best_step > 0) line[setup.validator->name()] = state.best_value;
  metrics.Write(line);
  metrics.Sync();
  setup.model->Save(folder.model(), CardOf(setup, state, step));
  Note(fmt::format("{}: the model of step {}{}", folder.model().native(), step,
                   state.best_step > 0
                       ? fmt::format(", {} {:.4f}", setup.validator->name(), state.best_value)
                       : std::string()));
}

bool IsFinished(const RunFolder& folder) {
  return std::filesystem::exists(folder.model()) && folder.LatestCheckpoint().has_value();
}

void TrainIn(const RunFolder& folder, Setup& setup, StepProfile* profile, const StopRequest& stop) {
  const std::optional<int64_t> checkpoint = folder.LatestCheckpoint();
  folder.Prepare();
  if (!std::filesystem::exists(folder.recipe())) {
    WriteFileAtomically(folder.recipe(), ResolvedRecipeText(setup));
  }
  LineLog metrics(folder.metrics(), MetricsBytes(folder, checkpoint));
  LineLog timing(folder.timing(), std::nullopt);
  timing.Write({{"threads", setup.threads},
                {"precision", tensor::PrecisionName(setup.precision)},
                {"isa", tensor::IsaName()},
                {"resumed_from", checkpoint.value_or(0)}});
  LoopParts parts = PartsOf(setup);
  parts.folder = &folder;
  parts.metrics = &metrics;
  parts.timing = &timing;
  parts.profile = profile;
  parts.stop = stop;
  Loop loop(parts);
  if (checkpoint) {
    loop.Restore(*checkpoint);
    folder.Prune(setup.plan, *checkpoint, loop.state().best_step);  // a kill may have cut it short
  }
  loop.Run();
  SaveModel(setup, folder, loop.state(), metrics);
}

}  // namespace

std::string RunTraining(config::LoadedRecipe loaded, const RunOptions& options) {
  const std::filesystem::path output =
      options.output.empty() ? std::filesystem::path(loaded.recipe.output) : options.output;
  if (output.empty()) {
    throw UsageError("there is no run folder to write to: give --output, or output in the recipe");
  }
  const RunFolder folder(output);
  std::optional<RunLock> lock;
  // A folder in which another process trains is not one to resume, nor one that "exists already".
  if (std::filesystem::exists(folder.lock())) lock.emplace(folder.lock());
  folder.CheckUsable(options.resume);
  if (options.resume && !lock) lock.emplace(folder.lock());
  const std::unique_ptr<Setup> setup = MakeSetup(std::move(loaded));
  if (!lock) {
    // Nothing is written before model and data are read; another process may have begun meanwhile.
    MakeFolder(output);
    lock.emplace(folder.lock());
    folder.CheckUsable(options.resume);
  }
  if (options.resume) {
    CheckSameRecipe(*setup, folder);
    if (const auto step = folder.LatestCheckpoint()) CheckSameInputs(*setup, folder, *step);
    if (IsFinished(folder)) {
      Note(fmt::format("{}: this run is finished; its model is {}", output.native(),
                       folder.model().native()));
      return "";
    }
  }
  if (options.profile_format.empty()) {
    TrainIn(folder, *setup, nullptr, options.stop);
    return "";
  }
  StepProfile profile;
  TrainIn(folder, *setup, &profile, options.stop);
  return FormatProfile(
      profile, MeasureSetting(profile, setup->precision, 3 * setup->model->flops_per_token()),
      options.profile_format);
}

}  // namespace tandem::train
