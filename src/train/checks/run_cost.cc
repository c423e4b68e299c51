#include "train/checks/run_cost.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "train/observers/signal_observer.h"
#include "train/run/loop.h"
#include "train/seconds_since.h"
#include "train/setup/trainer.h"

namespace tandem::train {
namespace {

// Adds up the seconds of all steps but the first.
class StepClock final : public LoopObserver {
 public:
  Next AfterStep(const Loop& /*loop*/, const StepReport& report) override {
    if (first_) {
      first_ = false;
      return Next::kGoOn;
    }
    seconds_ += report.seconds;
    ++steps_;
    return Next::kGoOn;
  }
  double mean() const { return seconds_ / static_cast<double>(std::max<int64_t>(1, steps_)); }

 private:
  bool first_ = true;
  double seconds_ = 0;
  int64_t steps_ = 0;
};

}  // namespace

RunCost MeasureRunCost(config::LoadedRecipe loaded, int64_t timed_steps, const StopRequest& stop,
                       dist::ProcessGroup* group) {
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  const auto [trainer, whole] = MakeTrainer(std::move(loaded), {.stop = stop, .group = group});
  RunCost cost{.setup_seconds = SecondsSince(start), .steps = whole.steps};
  const RunPlan plan = WithSteps(whole, timed_steps + 1);
  StepClock clock;
  SignalObserver signals(stop);
  LoopOptions options = LoopOptionsOf(*trainer, plan);
  options.epochs.reset();  // stops after these steps, even if the run counts epochs
  Updater updater = MakeUpdater(*trainer, plan);
  if (!Loop(PartsOf(*trainer, updater), options, {&clock, &signals}).Run()) {
    throw Interrupted(StopSignal(stop), "interrupted while steps were timed");
  }
  cost.step_seconds = clock.mean();
  return cost;
}

}  // namespace tandem::train
