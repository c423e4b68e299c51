#include "train/setup/resolved_run.h"

#include <utility>

#include "base/process/threads.h"
#include "tensor/machine/device.h"
#include "train/setup/learning_rate.h"
#include "train/setup/recipe_checks.h"

namespace tandem::train {

ResolvedRun ResolveRun(config::LoadedRecipe loaded, dist::ProcessGroup* group) {
  CheckMeasures(loaded);
  ResolvedRun run;
  run.learning_rate_note = ResolveLearningRate(loaded);
  run.loaded = std::move(loaded);
  run.group = dist::IsShared(group) ? group : nullptr;
  CheckKeys(run.loaded);
  config::Recipe& recipe = run.loaded.recipe;
  run.threads = recipe.threads > 0 ? static_cast<int>(recipe.threads) : UsableThreads();
  run.device = tensor::UseDevice(recipe.device);
  run.precision = tensor::ResolveTrainingPrecision(recipe.precision, run.device);
  if (recipe.precision == "auto") run.precision_note = tensor::AutoPrecisionText(run.device);
  tensor::ApplyPrecision(run.precision);
  recipe.threads = run.threads;
  // The device's number is left out, because the processes of a job have different devices.
  recipe.device = run.device.is_cpu() ? "cpu" : "cuda";
  recipe.precision = tensor::PrecisionName(run.precision);
  return run;
}

}  // namespace tandem::train
