#include "train/profile_observer.h"

#include <utility>

namespace tandem::train {

Next ProfileObserver::BeforeStep(const Loop& /*loop*/) {
  if (!std::exchange(warm_, true)) return Next::kGoOn;
  active_.emplace(&profile_.operations);
  rest_.emplace("everything else");
  return Next::kGoOn;
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
