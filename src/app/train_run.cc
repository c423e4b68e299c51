// The work of `tandem train`.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "app/catalogues.h"
#include "app/globals.h"
#include "app/signal_watch.h"
#include "app/train_command.h"
#include "base/error.h"
#include "tensor/process.h"
#include "train/gradient_cache_check.h"
#include "train/run.h"

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

}  // namespace

void RunTrain(const TrainOptions& options) {
  config::LoadedRecipe loaded = config::LoadRecipe(options.recipe, options.sets, AllCatalogues());
  const Globals& globals = GlobalOptions();
  if (globals.threads > 0) loaded.recipe.threads = globals.threads;
  if (globals.seed) loaded.recipe.seed = *globals.seed;
  if (!globals.precision.empty()) loaded.recipe.precision = globals.precision;
  tensor::SetUpProcess(static_cast<int>(loaded.recipe.threads));
  if (options.check) {
    const std::string report = train::CheckTraining(std::move(loaded));
    std::fputs(report.c_str(), stdout);
    return;
  }
  if (options.check_gradient_cache) return CheckCache(std::move(loaded));
  const SignalWatch signals;
  const std::string profile =
      options.profile_steps > 0
          ? train::ProfileTraining(std::move(loaded), options.profile_steps, options.format,
                                   SignalWatch::Received)
          : train::RunTraining(std::move(loaded),
                               {.output = options.output,
                                .resume = options.resume,
                                .profile_format = options.profile ? options.format : "",
                                .stop = SignalWatch::Received});
  std::fputs(profile.c_str(), stdout);
}

}  // namespace tandem::app
