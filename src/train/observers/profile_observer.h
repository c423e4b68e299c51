// Times the operations of each step, except for the first step of a process, which includes work
// that is done only once.
#pragma once

#include <optional>

#include "tensor/profile/profile.h"
#include "train/checks/step_profile.h"
#include "train/observers/observer.h"

namespace tandem::train {

// First in a loop's list, so that it does not time what other observers do.
class ProfileObserver final : public LoopObserver {
 public:
  // Adds to `profile`, which outlives it.
  explicit ProfileObserver(StepProfile& profile) : profile_(profile) {}

  Next BeforeStep(const Loop& loop) override;
  // Mining is no part of the step.
  bool DuringMining(const Loop& loop, const MiningStage& stage) override;
  void AfterMining(const Loop& loop, const MiningReport& report) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;

 private:
  void Start();

  StepProfile& profile_;
  bool warm_ = false;    // this process has made a step
  bool paused_ = false;  // while it mines
  std::optional<tensor::ActiveProfile> active_;
  std::optional<tensor::ProfileScope> rest_;  // what no operation of the step counts
};

}  // namespace tandem::train
