// Shows the progress of a run: steps, loss, rate, the last validation.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/progress.h"
#include "train/observers/observer.h"
#include "train/observers/time_left.h"
#include "train/setup/plan.h"

namespace tandem::train {

class ProgressObserver final : public LoopObserver {
 public:
  // Shows loss and rate as means over the last `window` steps of this process, and the time left
  // with the validations of `plan` that follow. `validation_seconds`: of one that an earlier
  // process timed.
  ProgressObserver(int64_t window, const RunPlan& plan, std::optional<double> validation_seconds);

  Next Begin(const Loop& loop) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;
  bool DuringValidation(const Loop& loop, double share) override;
  bool DuringMining(const Loop& loop, const MiningStage& stage) override;
  void AfterMining(const Loop& loop, const MiningReport& report) override;
  void AfterValidation(const Loop& loop, const ValidationReport& report) override;
  void End(const Loop& loop) override;
  void Interrupt(const Loop& loop) override;

 private:
  // Number of steps done, or thousandths of a run whose number of steps is not known.
  static uint64_t Done(const Loop& loop);
  struct StepFigures {
    double loss = 0;
    int64_t tokens = 0;
    double seconds = 0;
  };
  std::string Detail(const Loop& loop) const;
  // Draws with this detail; `share`: of the validation under way that is done.
  void Update(const Loop& loop, const std::string& detail, double share = 0);
  // What was done until now was preparation.
  void RestartClock(const Loop& loop);

  size_t window_;
  RunPlan plan_;
  TimeLeft left_;
  std::chrono::steady_clock::time_point begin_;
  std::deque<StepFigures> last_;  // at most `window_` steps
  std::string validation_;        // "ndcg@10 0.4073 at step 50", or empty
  std::optional<Progress> bar_;   // from Begin on
};

}  // namespace tandem::train
