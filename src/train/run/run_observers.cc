#include "train/run/run_observers.h"

#include "report/records/run_log.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

uint64_t MetricsBytes(const RunFolder& folder, const std::optional<int64_t>& checkpoint) {
  return checkpoint ? ReadFacts(folder.Checkpoint(*checkpoint)).metrics_bytes : 0;
}

}  // namespace

RunLogs::RunLogs(const RunFolder& folder, const std::optional<int64_t>& checkpoint)
    : metrics(folder.metrics(), MetricsBytes(folder, checkpoint)),
      timing(folder.timing(), std::nullopt) {
  if (!checkpoint) return;
  const report::TimingLog log = report::ReadTimingLog(folder.timing());
  if (!log.validations.empty()) validation_seconds = log.validations.back().seconds;
}

RunObservers::RunObservers(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder,
                           RunLogs* logs, const RunOptions& options)
    : signals_(options.stop) {
  const config::Recipe& recipe = trainer.recipe();
  if (logs != nullptr) {
    metrics_.emplace(logs->metrics, logs->timing, recipe.logging.every);
    progress_.emplace(recipe.logging.every, plan, logs->validation_seconds);
    warnings_.emplace();
    checkpoints_.emplace(folder, plan, trainer.inputs.fingerprints);
    if (trainer.sampler->Prunes()) {
      audit_.emplace(folder.sampling(), trainer.first_scores);
      trainer.sampler->set_audit(&*audit_);
    }
  }
  if (trainer.validator == nullptr) return;
  validation_.emplace(*trainer.validator, folder, plan, recipe.validation);
  if (options.trained_model) validation_->LeaveOutBase();
  for (const KnownBase& base : options.bases) {
    if (base.similarity != trainer.model().similarity()) continue;
    validation_->set_base(base.validated);
    break;
  }
}

std::vector<LoopObserver*> RunObservers::List() {
  std::vector<LoopObserver*> list = {&signals_};
  const auto add = [&list](auto& observer) {
    if (observer) list.push_back(&*observer);
  };
  add(metrics_);
  add(progress_);
  add(warnings_);
  add(audit_);
  add(validation_);
  add(checkpoints_);
  return list;
}

}  // namespace tandem::train
