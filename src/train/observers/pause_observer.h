// Interrupts a run at the first validation from a share of its length on, so that somebody may look
// at the value and let the run go on later.
#pragma once

#include "train/observers/observer.h"
#include "train/observers/validation_observer.h"
#include "train/run/loop.h"

namespace tandem::train {

class PauseObserver final : public LoopObserver {
 public:
  // `share` is above 0; 1 and more: the run is not interrupted. `validation` must outlive the
  // observer. Validations are at rounded steps, so that one that is a little early counts too.
  PauseObserver(const ValidationState& validation, double share)
      : validation_(validation), share_(share) {}

  Next BeforeStep(const Loop& loop) override {
    constexpr double kEarly = 0.7;  // of the share: of few steps an interval may lose a third
    const LoopState& state = loop.state();
    const bool validated = state.step > 0 && validation_.validated_step == state.step;
    paused_ = share_ < 1 && validated && state.progress >= kEarly * share_;
    return paused_ ? Next::kInterrupt : Next::kGoOn;
  }

  bool paused() const { return paused_; }

 private:
  const ValidationState& validation_;
  double share_;
  bool paused_ = false;
};

}  // namespace tandem::train
