#include "train/observers/progress_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "train/run/loop.h"

namespace tandem::train {
namespace {

constexpr int kPerMille = 1000;

}  // namespace

uint64_t ProgressObserver::Done(const Loop& loop) {
  if (!loop.by_progress()) return static_cast<uint64_t>(loop.state().step);
  return static_cast<uint64_t>(std::floor(kPerMille * loop.state().progress));
}

std::string ProgressObserver::Detail(const Loop& loop) const {
  double loss = 0, seconds = 0;
  int64_t tokens = 0;
  for (const StepFigures& step : last_) {
    loss += step.loss;
    tokens += step.tokens;
    seconds += step.seconds;
  }
  if (last_.empty()) return validation_;
  const std::string step =
      loop.by_progress() ? fmt::format("step {}, ", loop.state().step) : std::string();
  return fmt::format("{}loss {:.4f}{}{}, {:.0f} tokens/s", step,
                     loss / static_cast<double>(last_.size()), validation_.empty() ? "" : ", ",
                     validation_, static_cast<double>(tokens) / std::max(1e-9, seconds));
}

Next ProgressObserver::Begin(const Loop& loop) {
  const bool by_progress = loop.by_progress();
  const uint64_t done = Done(loop);
  bar_.emplace(ProgressOptions{
      .label = "train",
      .unit = by_progress ? "" : "steps",
      .total = by_progress ? uint64_t{kPerMille} : static_cast<uint64_t>(loop.steps()),
      .first = done});
  bar_->Update(done);
  return Next::kGoOn;
}

Next ProgressObserver::AfterStep(const Loop& loop, const StepReport& report) {
  last_.push_back({report.loss, report.tokens, report.seconds});
  if (last_.size() > window_) last_.pop_front();
  bar_->Update(Done(loop), Detail(loop));
  return Next::kGoOn;
}

bool ProgressObserver::DuringValidation(const Loop& loop, double share) {
  bar_->Update(Done(loop), fmt::format("validating {:.0f}%", 100 * share));
  return true;
}

bool ProgressObserver::DuringMining(const Loop& loop, const MiningStage& stage) {
  const std::string left =
      stage.share > 0
          ? fmt::format(", {} left", FormatDuration(stage.seconds / stage.share - stage.seconds))
          : std::string();
  bar_->Update(Done(loop),
               fmt::format("mining: {} {:.0f}%{}", stage.work, 100 * stage.share, left));
  return true;
}

// Restarts the clock after a mining round before the first step, because its time says nothing
// about how long steps take.
void ProgressObserver::AfterMining(const Loop& loop, const MiningReport& /*report*/) {
  bar_->Update(Done(loop), Detail(loop));
  if (last_.empty()) bar_->RestartClock();
}

void ProgressObserver::AfterValidation(const Loop& loop, const ValidationReport& report) {
  // The step tells the value, which stays until the next validation, from the loss, which does not.
  // The word "validation" tells a validation loss from the training loss, which is printed before
  // it.
  const bool is_loss = std::string_view(report.measure) == "loss";
  const int64_t step = loop.state().step;
  validation_ =
      fmt::format("{}{} {:.4f} {}", is_loss ? "validation " : "", report.measure, report.value,
                  step == 0 ? "before training" : fmt::format("at step {}", step));
  bar_->Update(Done(loop), Detail(loop));
  // The time of the validation before the first step says nothing about how long steps take.
  if (last_.empty()) bar_->RestartClock();
}

void ProgressObserver::End(const Loop& /*loop*/) { bar_->Finish(); }
void ProgressObserver::Interrupt(const Loop& /*loop*/) { bar_->Finish(); }

}  // namespace tandem::train
