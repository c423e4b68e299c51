#include "train/observers/warning_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "train/checks/empty_batches.h"
#include "train/run/loop.h"

namespace tandem::train {
namespace {

// A model that tells documents apart at all is further from the loss of equal scores: a softmax
// over 16 documents moves by 1 % where the paired document's logit is 0.03 above the others.
constexpr double kEqualShare = 0.01;
// A run may begin so; a warning during the run waits for this many steps, and for a tenth of the
// run. One at the end waits for a quarter of them.
constexpr int64_t kManySteps = 20;

}  // namespace

Next WarningObserver::AfterStep(const Loop& loop, const StepReport& report) {
  ++steps_;
  CountEqualScores(loop, report);
  CountFiltered(loop, report);
  CountEmpty(loop, report);
  return Next::kGoOn;
}

void WarningObserver::CountEqualScores(const Loop& loop, const StepReport& report) {
  if (report.equal_scores_loss <= 0) return;  // not computed, or the batch had nothing to compare
  const double distance = std::abs(report.loss - report.equal_scores_loss);
  equal_steps_ =
      distance <= kEqualShare * report.equal_scores_loss ? equal_steps_ + kEqualScoresEvery : 0;
  if (warned_equal_ || equal_steps_ < std::max(kManySteps, loop.steps() / 10)) return;
  warned_equal_ = true;
  Warn(
      fmt::format("step {}: for {} steps the loss ({:.4f}) has been that of a model that gives all "
                  "documents the same score ({:.4f}); if it stays so, the model has collapsed: "
                  "stop the run and try a lower optimizer.learning_rate or a longer "
                  "schedule.warmup",
                  loop.state().step, equal_steps_, report.loss, report.equal_scores_loss));
}

void WarningObserver::CountFiltered(const Loop& loop, const StepReport& report) {
  if (2 * report.false_negatives <= report.negatives) return;
  if (++filtered_steps_ > 1) return;
  Warn(
      fmt::format("step {}: the false-negative filter left out {} of {} negatives, so that there "
                  "is little to learn from; loosen data.masks.false_negative_*, or look at whether "
                  "the model has collapsed (scores that are all alike)",
                  loop.state().step, report.false_negatives, report.negatives));
}

// A step without a negative that the filter has not taken out.
void WarningObserver::CountEmpty(const Loop& loop, const StepReport& report) {
  if (report.empty_batches < report.batches || report.false_negatives > 0) return;
  if (++empty_steps_ > 1) return;
  Warn(fmt::format("step {}: {}", loop.state().step,
                   EmptyBatchText(report.batches > 1 ? "its batches have" : "its batch has")));
}

// Once in a run: later rounds are in metrics.jsonl.
void WarningObserver::AfterMining(const Loop& loop, const MiningReport& report) {
  const search::MiningSummary& sums = report.sums;
  if (warned_fewer_ || sums.full == sums.queries) return;
  warned_fewer_ = true;
  Warn(
      fmt::format("step {}: for {} of {} queries fewer negatives were mined than mining.negatives "
                  "asks for, for {} of them none: widen mining.range{}",
                  loop.state().step, sums.queries - sums.full, sums.queries, sums.without,
                  sums.left_out > 0 ? " or lower the margins" : ""));
}

void WarningObserver::End(const Loop& loop) {
  if (equal_steps_ >= std::max(kManySteps / 4, loop.steps() / 10)) {
    Warn(fmt::format(
        "for its last {} steps the run had the loss of a model that gives all documents "
        "the same score: the model has collapsed or has learned nothing; try a lower "
        "optimizer.learning_rate or a longer schedule.warmup",
        equal_steps_));
  }
  if (filtered_steps_ > 1) {
    Warn(fmt::format("in {} of {} steps the false-negative filter left out most negatives",
                     filtered_steps_, steps_));
  }
  if (empty_steps_ > 1) {
    Warn(fmt::format("{} of {} steps taught nothing: no query of theirs had an allowed negative",
                     empty_steps_, steps_));
  }
}

}  // namespace tandem::train
