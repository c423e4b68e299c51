// `tandem train --profile-steps`.
#include <utility>

#include "train/loop.h"
#include "train/run.h"
#include "train/setup.h"
#include "train/step_profile.h"

namespace tandem::train {

std::string ProfileTraining(config::LoadedRecipe loaded, int64_t steps, std::string_view format) {
  const std::unique_ptr<Setup> setup = MakeSetup(std::move(loaded));
  setup->plan.steps = steps + 1;  // the schedule's rates belong to a run of this length
  StepProfile profile;
  LoopParts parts = PartsOf(*setup);
  parts.validator = nullptr;
  parts.profile = &profile;
  Loop(parts).Measure();
  return FormatProfile(
      profile, MeasureSetting(profile, setup->precision, 3 * setup->model->flops_per_token()),
      format);
}

}  // namespace tandem::train
