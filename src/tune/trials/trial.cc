#include "tune/trials/trial.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "report/records/run_log.h"
#include "train/observers/observer.h"
#include "train/run/loop.h"
#include "train/run/training_run.h"
#include "tune/query_values.h"
#include "tune/schedule/brackets.h"

namespace tandem::tune {
namespace {

// Writes the values of each validation after a step of training.
class KeepValues final : public train::LoopObserver {
 public:
  KeepValues(const SearchFolder& folder, int64_t trial) : folder_(folder), trial_(trial) {}

  void AfterValidation(const train::Loop& loop, const train::ValidationReport& report) override {
    const int64_t step = loop.state().step;
    if (step == 0 || !dist::Leads(loop.group())) return;
    WriteQueryValues(folder_.TrialValues(trial_, step),
                     {report.queries.begin(), report.queries.end()});
  }

 private:
  const SearchFolder& folder_;
  int64_t trial_;
};

void WriteTrialRecipe(const config::LoadedRecipe& recipe, const SearchFolder& folder,
                      int64_t trial) {
  MakeFolder(folder.Trial(trial));
  if (std::filesystem::exists(folder.TrialRecipe(trial))) return;
  WriteFileAtomically(
      folder.TrialRecipe(trial),
      fmt::format("# Trial {} of a search by tandem tune.\n{}", trial, recipe.text));
}

}  // namespace

config::Assignment RungKeys(int64_t rungs) {
  if (rungs == 1) return {};
  return {{"validation.every",
           fmt::format("\"{:.4f}%\"", 100.0 / static_cast<double>(FullUnits(rungs)))}};
}

config::LoadedRecipe TrialRecipe(const config::LoadedTune& tune, const SearchFolder& folder,
                                 int64_t trial, config::Assignment values) {
  for (auto& key : RungKeys(tune.tune.rungs)) values.push_back(std::move(key));
  return config::MakeTrialRecipe(tune, folder.TrialRecipe(trial).native(), &values);
}

void TrainTrial(const config::LoadedRecipe& recipe, const SearchFolder& folder,
                const TrialOptions& options) {
  options.group->Agree([&] {
    if (options.group->leads()) WriteTrialRecipe(recipe, folder, options.trial);
  });
  KeepValues keep(folder, options.trial);
  train::RunTraining(recipe, {.output = folder.TrialRun(options.trial),
                              .version = options.version,
                              .stop = options.stop,
                              .group = options.group,
                              .restarted = true,
                              .ignore_limits = options.ignore_limits,
                              .pause_share = options.share,
                              .bases = options.bases,
                              .tokens = options.tokens,
                              .trained_model = true,
                              .observers = {&keep}});
}

Json TrialState(const SearchFolder& folder, int64_t trial) {
  const report::RunLog log = report::ReadRunLog(folder.TrialRun(trial) / "metrics.jsonl");
  std::optional<double> best;
  int64_t best_step = 0, step = 0;
  for (const report::ValidationRow& row : log.validations) {
    if (row.step == 0 || row.measures.empty()) continue;
    step = row.step;
    const double value = row.measures.front().AsDouble();
    if (best && value <= *best) continue;
    best = value;
    best_step = row.step;
  }
  if (!best) {
    throw ModelError(folder.TrialRun(trial).native(), "",
                     "has no validation after its first step; its metrics.jsonl was changed");
  }
  return {{"step", step},
          {"best_step", best_step},
          {"value", *best},
          {"finished", log.finished.has_value()}};
}

}  // namespace tandem::tune
