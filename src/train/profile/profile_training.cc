// The work of `tandem train --profile-steps`.
#include <utility>

#include "train/observers/profile_observer.h"
#include "train/observers/signal_observer.h"
#include "train/profile/step_profile.h"
#include "train/run/loop.h"
#include "train/run/training_run.h"
#include "train/setup/trainer.h"

namespace tandem::train {

std::string ProfileTraining(config::LoadedRecipe loaded, int64_t steps, std::string_view format,
                            const report::TextStyle& style, const StopRequest& stop,
                            dist::ProcessGroup* group) {
  const auto [trainer, whole] = MakeTrainer(std::move(loaded), {.stop = stop, .group = group});
  const ResolvedRun& run = trainer->inputs.run;
  if (!run.device.is_cpu()) {
    throw UsageError(
        "--profile-steps measures the processor and its memory: on a device use its own profiler "
        "(nsys profile tandem train ...)");
  }
  const RunPlan plan = WithSteps(whole, steps + 1);  // the first step warms up
  StepProfile profile;
  ProfileObserver profiler(profile);
  SignalObserver signals(stop);
  LoopOptions options = LoopOptionsOf(*trainer, plan);
  options.epochs.reset();  // stops after these steps, even if the run counts epochs
  Updater updater = MakeUpdater(*trainer, plan);
  if (!Loop(PartsOf(*trainer, updater), options, {&profiler, &signals}).Run()) {
    const auto asked = static_cast<int64_t>(StopSignal(stop));
    const int64_t signal = run.group == nullptr ? asked : run.group->Largest(asked);
    throw Interrupted(static_cast<int>(signal), "interrupted");
  }
  return FormatProfile(
      profile, MeasureSetting(profile, run.precision, 3 * trainer->model().flops_per_token()),
      format, style);
}

}  // namespace tandem::train
