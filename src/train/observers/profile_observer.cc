#include "train/observers/profile_observer.h"

#include <utility>

namespace tandem::train {

Next ProfileObserver::BeforeStep(const Loop& /*loop*/) {
  if (std::exchange(warm_, true)) Start();
  return Next::kGoOn;
}

void ProfileObserver::Start() {
  active_.emplace(&profile_.operations);
  rest_.emplace("everything else");
}

bool ProfileObserver::DuringMining(const Loop& /*loop*/, const MiningStage& /*stage*/) {
  if (!active_) return true;
  rest_.reset();
  active_.reset();
  paused_ = true;
  return true;
}

void ProfileObserver::AfterMining(const Loop& /*loop*/, const MiningReport& /*report*/) {
  if (std::exchange(paused_, false)) Start();
}

Next ProfileObserver::AfterStep(const Loop& /*loop*/, const StepReport& report) {
  if (!active_) return Next::kGoOn;
  rest_.reset();
  active_.reset();
  ++profile_.steps;
  profile_.tokens += report.tokens;
  return Next::kGoOn;
}

}  // namespace tandem::train
