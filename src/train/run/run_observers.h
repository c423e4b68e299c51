// The observers of a run, and the files to which they append lines.
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
#include "train/run/training_run.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// The logs of a run; only rank 0 has them.
struct RunLogs {
  // Cuts metrics.jsonl back to its length at `checkpoint`; none: to the length at the start of the
  // run.
  RunLogs(const RunFolder& folder, const std::optional<int64_t>& checkpoint);

  LineLog metrics;
  LineLog timing;
  // Of the last validation that an earlier process timed; none in a new run.
  std::optional<double> validation_seconds;
};

// The observers in the order in which the loop calls them. Only rank 0 has those that write files.
class RunObservers {
 public:
  // `logs` is null on the other processes of a group. All arguments must outlive the observers.
  RunObservers(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder, RunLogs* logs,
               const RunOptions& options);

  // Returns the observers. The checkpoint observer comes after all observers whose state it saves.
  std::vector<LoopObserver*> List();
  // Returns null if the run has no validation.
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
