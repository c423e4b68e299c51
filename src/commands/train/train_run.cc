// The work of `tandem train`.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/process/launch.h"
#include "cli/output_style.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "cli/version.h"
#include "commands/catalogues.h"
#include "commands/model/asked_precision.h"
#include "commands/train/train_command.h"
#include "commands/train/train_seeds.h"
#include "tensor/machine/device.h"
#include "tensor/machine/precision.h"
#include "tensor/machine/process.h"
#include "train/checks/gradient_cache_check.h"
#include "train/run/training_run.h"

namespace tandem::app {
namespace {

void CheckCache(config::LoadedRecipe loaded) {
  const train::GradientCacheReport report = train::CheckGradientCache(std::move(loaded));
  std::fputs(report.text.c_str(), stdout);
  if (report.holds()) return;
  throw CheckFailed(
      fmt::format("the gradient cache differs from the direct gradient by {:.2e}, more than {:.0e}",
                  report.worst, report.bound));
}

// Applies the global flags to the recipe; returns those that were given.
std::vector<std::string> ApplyGlobals(const Globals& globals, config::Recipe& recipe) {
  std::vector<std::string> given;
  if (globals.threads > 0) {
    recipe.threads = globals.threads;
    given.push_back(fmt::format("--threads {}", globals.threads));
  }
  if (globals.seed) {
    recipe.seed = *globals.seed;
    given.push_back(fmt::format("--seed {}", *globals.seed));
  }
  if (!globals.device.empty()) {
    recipe.device = globals.device;
    given.push_back(fmt::format("--device {}", globals.device));
  }
  if (const AskedPrecision asked = AskedPrecisionOf(globals); !asked.name.empty()) {
    ResolveAsked(asked, [&recipe](std::string_view name) {
      return tensor::ResolveTrainingPrecision(name, tensor::UseDevice(recipe.device));
    });
    recipe.precision = asked.name;
    given.push_back(asked.given());
  }
  return given;
}

// Does the work of one process of a job.
void RunInJob(const TrainOptions& options, dist::ProcessGroup& group, std::string* profile) {
  config::LoadedRecipe loaded;
  std::vector<std::string> flags;
  group.Agree([&] {
    loaded = config::LoadRecipe(options.recipe, options.sets, AllCatalogues());
    for (const std::string& dropped : loaded.left_over) Note(dropped);
    flags = ApplyGlobals(options.globals, loaded.recipe);
    tensor::SetUpProcess(static_cast<int>(loaded.recipe.threads));
  });
  const bool checks = options.check || options.check_gradient_cache;
  if (checks && !group.leads()) return;
  if (options.check) {
    if (!options.output.empty()) loaded.recipe.output = options.output;
    *profile = train::CheckTraining(std::move(loaded), options.ignore_limits);
    return;
  }
  if (options.check_gradient_cache) return CheckCache(std::move(loaded));
  const SignalWatch signals("a step");
  *profile = options.profile_steps > 0
                 ? train::ProfileTraining(std::move(loaded), options.profile_steps, options.format,
                                          OutputStyle(), SignalWatch::Received, &group)
                 : train::RunTraining(std::move(loaded),
                                      {.output = options.output,
                                       .resume = options.resume,
                                       .profile_format = options.profile ? options.format : "",
                                       .profile_style = OutputStyle(),
                                       .version = Version(),
                                       .flags = flags,
                                       .stop = SignalWatch::Received,
                                       .group = &group,
                                       .restarted = options.begin_or_resume ||
                                                    group.Largest(CurrentLaunch().restarts) > 0,
                                       .ignore_limits = options.ignore_limits});
}

// Trains one run after another; those that are finished are not trained again.
void TrainSeeds(const TrainOptions& options, dist::ProcessGroup& group) {
  std::vector<SeedRun> runs;
  const bool restarted = group.Largest(CurrentLaunch().restarts) > 0;
  group.Agree([&] { runs = SeedRunsOf(options, group.leads() && !restarted); });
  for (size_t i = 0; i < runs.size(); ++i) {
    Note(fmt::format("seed {} ({} of {}): {}", runs[i].seed, i + 1, runs.size(),
                     runs[i].options.output));
    std::string none;
    RunInJob(runs[i].options, group, &none);
  }
  if (group.leads()) std::fputs(FormatSeedRuns(runs, options.format).c_str(), stdout);
}

}  // namespace

void RunTrain(const TrainOptions& options) {
  const char* mode = options.check                  ? "train --check"
                     : options.check_gradient_cache ? "train --check-gradient-cache"
                     : options.profile_steps > 0    ? "train --profile-steps"
                                                    : "train";
  if (options.seeds > 0) {
    RunInGroup(mode, options.job,
               [&options](dist::ProcessGroup& group) { TrainSeeds(options, group); });
    return;
  }
  RunInGroup(mode, options.job, [&options](dist::ProcessGroup& group) {
    std::string report;
    RunInJob(options, group, &report);
    if (group.leads()) std::fputs(report.c_str(), stdout);
  });
}

}  // namespace tandem::app
