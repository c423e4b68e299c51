// Warns a person of a run that learns nothing: the model gives all documents the same score,
// batches have no negative, the false-negative filter leaves few negatives, or too few are mined.
#pragma once

#include <cstdint>

#include "train/observers/observer.h"

namespace tandem::train {

class WarningObserver final : public LoopObserver {
 public:
  Next AfterStep(const Loop& loop, const StepReport& report) override;
  void AfterMining(const Loop& loop, const MiningReport& report) override;
  void End(const Loop& loop) override;

 private:
  void CountEqualScores(const Loop& loop, const StepReport& report);
  void CountFiltered(const Loop& loop, const StepReport& report);
  void CountEmpty(const Loop& loop, const StepReport& report);

  int64_t steps_ = 0;        // of this process
  int64_t equal_steps_ = 0;  // in a row with the loss of equal scores
  bool warned_equal_ = false;
  bool warned_fewer_ = false;
  int64_t filtered_steps_ = 0;  // steps in which the filter took most negatives
  int64_t empty_steps_ = 0;     // steps without any allowed negative
};

}  // namespace tandem::train
