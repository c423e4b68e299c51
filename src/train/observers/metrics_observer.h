// Writes metrics.jsonl, which has the same bytes in every run of a recipe, and timing.jsonl, which
// has wall-clock times.
#pragma once

#include <cstdint>

#include "train/observers/line_log.h"
#include "train/observers/observer.h"

namespace tandem::train {

class MetricsObserver final : public LoopObserver {
 public:
  // Writes a line of means every `every` steps and after the last step of the run. The logs must
  // outlive the observer.
  MetricsObserver(LineLog& metrics, LineLog& timing, int64_t every)
      : metrics_(metrics), timing_(timing), every_(every) {}

  Next AfterStep(const Loop& loop, const StepReport& made) override;
  void AfterMining(const Loop& loop, const MiningReport& found) override;
  void AfterValidation(const Loop& loop, const ValidationReport& found) override;
  // Flushes metrics.jsonl when the state is written, because the state has the file's length.
  void VisitState(StateVisitor visit) override;

 private:
  void WriteLines(const Loop& loop, const StepReport& made);

  LineLog& metrics_;
  LineLog& timing_;
  int64_t every_;
  // Sums since the last line.
  double loss_sum_ = 0;
  int64_t loss_steps_ = 0;
  int64_t false_negatives_ = 0;
  int64_t same_tower_masked_ = 0;
  int64_t skipped_ = 0;  // steps without an update
  double seconds_ = 0;
  int64_t tokens_ = 0;
};

}  // namespace tandem::train
