// The work of `tandem train`.
#include <cstdio>
#include <string>

#include "app/globals.h"
#include "app/torch_half.h"
#include "app/train_command.h"
#include "objective/catalogue.h"
#include "train/run.h"

namespace tandem::app {

void RunTrain(const TrainOptions& options) {
  config::LoadedRecipe loaded =
      config::LoadRecipe(options.recipe, options.sets, {objective::ObjectiveEntries()});
  const Globals& globals = GlobalOptions();
  if (globals.threads > 0) loaded.recipe.threads = globals.threads;
  if (globals.seed) loaded.recipe.seed = *globals.seed;
  if (!globals.precision.empty()) loaded.recipe.precision = globals.precision;
  if (options.check) {
    const std::string report = train::CheckTraining(std::move(loaded));
    std::fputs(report.c_str(), stdout);
    return;
  }
  const std::string profile =
      options.profile_steps > 0
          ? train::ProfileTraining(std::move(loaded), options.profile_steps, options.format)
          : train::RunTraining(std::move(loaded),
                               {.output = options.output,
                                .resume = options.resume,
                                .profile_format = options.profile ? options.format : ""});
  std::fputs(profile.c_str(), stdout);
}

}  // namespace tandem::app
