// The work of `tandem tune`.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "cli/process/job.h"
#include "cli/process/signal_watch.h"
#include "cli/version.h"
#include "commands/catalogues.h"
#include "commands/model/asked_precision.h"
#include "commands/tune/tune_command.h"
#include "config/tune/tune_recipe.h"
#include "tensor/machine/process.h"
#include "tune/search.h"

namespace tandem::app {
namespace {

// The global flags as keys of the recipe, which each trial then has.
std::vector<std::string> SetsOf(const TuneOptions& options) {
  std::vector<std::string> sets = options.sets;
  const Globals& globals = options.globals;
  if (globals.threads > 0) sets.push_back(fmt::format("threads={}", globals.threads));
  if (globals.seed) sets.push_back(fmt::format("seed={}", *globals.seed));
  if (!globals.device.empty()) sets.push_back(fmt::format("device=\"{}\"", globals.device));
  if (const AskedPrecision asked = AskedPrecisionOf(globals); !asked.name.empty()) {
    sets.push_back(fmt::format("precision=\"{}\"", asked.name));
  }
  return sets;
}

std::string OutputOf(const TuneOptions& options, const config::Recipe& recipe) {
  if (!options.output.empty()) return options.output;
  if (!recipe.output.empty()) return recipe.output + "-tune";
  throw UsageError("there is no folder for the search: give --output, or output in the recipe");
}

}  // namespace

void RunTune(const TuneOptions& options) {
  RunInGroup("tune", options.job, [&options](dist::ProcessGroup& group) {
    config::LoadedTune loaded;
    tune::SearchOptions search{.resume = options.resume,
                               .version = std::string(Version()),
                               .stop = SignalWatch::Received,
                               .group = &group,
                               .ignore_limits = options.ignore_limits,
                               .format = options.format,
                               .style = OutputStyle()};
    group.Agree([&] {
      if (!options.budget.empty()) search.budget = tune::ParseBudget(options.budget);
      loaded = config::LoadTune(options.recipe, SetsOf(options), AllCatalogues());
      for (const std::string& dropped : loaded.recipe.left_over) Note(dropped);
      search.output = OutputOf(options, loaded.recipe.recipe);
      tensor::SetUpProcess(static_cast<int>(loaded.recipe.recipe.threads));
    });
    const SignalWatch signals("a step");
    const std::string text = tune::RunSearch(std::move(loaded), search);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace tandem::app
