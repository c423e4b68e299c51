// What watches a run: its observers, and the files that they append lines to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/observers/audit_observer.h"
#include "train/observers/checkpoint_observer.h"
#include "train/observers/metrics_observer.h"
#include "train/observers/progress_observer.h"
#include "train/observers/signal_observer.h"
#include "train/observers/validation_observer.h"
#include "train/observers/warning_observer.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// Rank 0's.
struct RunLogs {
  // metrics.jsonl is cut back to what it was at `checkpoint`; none: at the start of the run.
  RunLogs(const RunFolder& folder, const std::optional<int64_t>& checkpoint);

  LineLog metrics;
  LineLog timing;
};

// The observers in the order in which the loop calls them. Those that write are rank 0's alone.
class RunObservers {
 public:
  // `logs`: null on the other processes of a group. All of it outlives the observers.
  RunObservers(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder, RunLogs* logs,
               const StopRequest& stop);

  // The checkpoint observer follows all observers whose state it saves.
  std::vector<LoopObserver*> List();
  // Null: the run has no validation.
  const ValidationState* validation() const {
    return validation_ ? &validation_->state() : nullptr;
  }

 private:
  SignalObserver signals_;
  std::optional<MetricsObserver> metrics_;
  std::optional<ProgressObserver> progress_;
  std::optional<WarningObserver> warnings_;
  std::optional<AuditObserver> audit_;
  std::optional<ValidationObserver> validation_;
  std::optional<CheckpointObserver> checkpoints_;
};

}  // namespace tandem::train
