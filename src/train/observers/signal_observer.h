// Interrupts a run between steps, during a validation or during mining, when the program asks to
// stop.
#pragma once

#include <utility>

#include "base/process/interrupt.h"
#include "train/observers/observer.h"

namespace tandem::train {

class SignalObserver final : public LoopObserver {
 public:
  explicit SignalObserver(StopRequest stop) : stop_(std::move(stop)) {}

  Next BeforeStep(const Loop& /*loop*/) override {
    return StopSignal(stop_) != 0 ? Next::kInterrupt : Next::kGoOn;
  }
  bool DuringValidation(const Loop& /*loop*/, double /*share*/) override {
    return StopSignal(stop_) == 0;
  }
  bool DuringMining(const Loop& /*loop*/, const MiningStage& /*stage*/) override {
    return StopSignal(stop_) == 0;
  }

 private:
  StopRequest stop_;
};

}  // namespace tandem::train
