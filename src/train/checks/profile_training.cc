// `tandem train --profile-steps`.
#include <utility>

#include "base/process/interrupt.h"
#include "train/checks/step_profile.h"
#include "train/observers/profile_observer.h"
#include "train/observers/signal_observer.h"
#include "train/run/loop.h"
#include "train/run/run.h"
#include "train/setup/setup.h"

namespace tandem::train {

std::string ProfileTraining(config::LoadedRecipe loaded, int64_t steps, std::string_view format,
                            const report::TextStyle& style, const StopRequest& stop,
                            dist::ProcessGroup* group) {
  const std::unique_ptr<Setup> setup = MakeSetup(std::move(loaded), {.stop = stop, .group = group});
  if (!setup->device.is_cpu()) {
    throw UsageError(
        "--profile-steps measures the processor and its memory: on a device use its own profiler "
        "(nsys profile tandem train ...)");
  }
  SetSteps(*setup, steps + 1);  // the first warms up
  StepProfile profile;
  ProfileObserver profiler(profile);
  SignalObserver signals(stop);
  LoopOptions options = LoopOptionsOf(*setup);
  options.epochs.reset();  // so many steps, also of a run whose length is counted in passes
  if (!Loop(PartsOf(*setup), options, {&profiler, &signals}).Run()) {
    const auto asked = static_cast<int64_t>(StopSignal(stop));
    const int64_t signal = setup->group == nullptr ? asked : setup->group->Largest(asked);
    throw Interrupted(static_cast<int>(signal), "interrupted");
  }
  return FormatProfile(
      profile, MeasureSetting(profile, setup->precision, 3 * setup->model->flops_per_token()),
      format, style);
}

}  // namespace tandem::train
