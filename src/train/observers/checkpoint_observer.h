// Saves checkpoints at the steps of the plan, at the end of the run and when it is interrupted, and
// restores them.
#pragma once

#include "train/inputs/input_fingerprints.h"
#include "train/observers/observer.h"
#include "train/run/run_folder.h"
#include "train/setup/plan.h"

namespace tandem::train {

class CheckpointObserver final : public LoopObserver {
 public:
  // `folder` must outlive the observer.
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

// Restores the loop, its observers, weights and optimizers from the checkpoint of `step`. In a
// group, rank 0 reads the checkpoint and sends it to the others. Throws ModelError for a broken
// checkpoint.
void RestoreCheckpoint(Loop& loop, const RunFolder& folder, int64_t step);

}  // namespace tandem::train
