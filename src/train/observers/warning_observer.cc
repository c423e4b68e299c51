#include "train/observers/warning_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "train/checks/empty_batches.h"
#include "train/run/loop.h"

namespace tandem::train {
namespace {

// The loss counts as that of equal scores if it differs by less than this share. A model that tells
// documents apart at all differs more: the loss of a softmax over 16 documents changes by 1 % if
// the paired document's logit is 0.03 above the others.
constexpr double kEqualShare = 0.01;
// A run may begin with equal scores. A warning during the run is given only after this many such
// steps in a row, and after a tenth of the run's steps. At the end of the run a quarter of this
// number is enough.
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

// Counts steps in which no query had an allowed negative, unless the filter took negatives out.
void WarningObserver::CountEmpty(const Loop& loop, const StepReport& report) {
  if (report.empty_batches < report.batches || report.false_negatives > 0) return;
  if (++empty_steps_ > 1) return;
  Warn(fmt::format("step {}: {}", loop.state().step,
                   EmptyBatchText(report.batches > 1 ? "its batches have" : "its batch has")));
}

// Warns only once in a run; numbers of later rounds are in metrics.jsonl.
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
