// Times the operations of each step but the first one of a process, which includes work that is
// done only once.
#pragma once

#include <optional>

#include "tensor/profile/profile.h"
#include "train/observers/observer.h"
#include "train/profile/step_profile.h"

namespace tandem::train {

// Must be the first observer in a loop's list, so that it does not time what others do.
class ProfileObserver final : public LoopObserver {
 public:
  // Adds its times to `profile`, which must outlive the observer.
  explicit ProfileObserver(StepProfile& profile) : profile_(profile) {}

  Next BeforeStep(const Loop& loop) override;
  // Pauses during mining, which is not part of a step.
  bool DuringMining(const Loop& loop, const MiningStage& stage) override;
  void AfterMining(const Loop& loop, const MiningReport& report) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;

 private:
  void Start();

  StepProfile& profile_;
  bool warm_ = false;    // this process has made its first step
  bool paused_ = false;  // during mining
  std::optional<tensor::ActiveProfile> active_;
  std::optional<tensor::ProfileScope> rest_;  // time of the step outside of all operations
};

}  // namespace tandem::train
