// Saves checkpoints at the plan's steps, at the run's end and when it is interrupted, and restores
// them.
#pragma once

#include "train/inputs/input_fingerprints.h"
#include "train/observers/observer.h"
#include "train/run/run_folder.h"
#include "train/setup/plan.h"

namespace tandem::train {

class CheckpointObserver final : public LoopObserver {
 public:
  // `folder` outlives the observer.
  CheckpointObserver(const RunFolder& folder, const RunPlan& plan,
                     const InputFingerprints& fingerprints)
      : folder_(folder), plan_(plan), fingerprints_(fingerprints) {}

  Next Begin(const Loop& loop) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;
  void AfterValidation(const Loop& loop, const ValidationReport& report) override;
  void Interrupt(const Loop& loop) override;

 private:
  void SaveIfDue(const Loop& loop);
  void SaveNow(const Loop& loop);

  const RunFolder& folder_;
  RunPlan plan_;
  InputFingerprints fingerprints_;
  bool validated_ = false;  // since this process began
};

// Takes the loop, its observers, weights and optimizers back to the checkpoint of `step`. In a
// group rank 0 reads it, and the others get it from there. Throws ModelError for a broken one.
void RestoreCheckpoint(Loop& loop, const RunFolder& folder, int64_t step);

}  // namespace tandem::train
