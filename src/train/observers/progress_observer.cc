#include "train/observers/progress_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "train/run/loop.h"
#include "train/seconds_since.h"

namespace tandem::train {
namespace {

constexpr int kPerMille = 1000;

}  // namespace

ProgressObserver::ProgressObserver(int64_t window, const RunPlan& plan,
                                   std::optional<double> validation_seconds)
    : window_(static_cast<size_t>(window)), plan_(plan), begin_(std::chrono::steady_clock::now()) {
  if (validation_seconds) left_.KnowValidation(*validation_seconds);
}

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

void ProgressObserver::Update(const Loop& loop, const std::string& detail, double share) {
  const double total = loop.by_progress() ? kPerMille : static_cast<double>(loop.steps());
  const auto done = static_cast<double>(Done(loop));
  const int64_t validations = plan_.ValidationsAfter(loop.state());
  const bool over = done >= total && validations == 0 && !left_.validating();
  bar_->SetSecondsLeft(
      over ? std::nullopt
           : left_.At(SecondsSince(begin_),
                      {.done = done, .total = total, .validations = validations, .share = share}));
  bar_->Update(Done(loop), detail);
}

void ProgressObserver::RestartClock(const Loop& loop) {
  bar_->RestartClock();
  left_.Start(SecondsSince(begin_), static_cast<double>(Done(loop)));
}

Next ProgressObserver::Begin(const Loop& loop) {
  const bool by_progress = loop.by_progress();
  const uint64_t done = Done(loop);
  bar_.emplace(ProgressOptions{
      .label = "train",
      .unit = by_progress ? "" : "steps",
      .total = by_progress ? uint64_t{kPerMille} : static_cast<uint64_t>(loop.steps()),
      .first = done});
  left_.Start(SecondsSince(begin_), static_cast<double>(done));
  bar_->Update(done);
  return Next::kGoOn;
}

Next ProgressObserver::AfterStep(const Loop& loop, const StepReport& report) {
  last_.push_back({report.loss, report.tokens, report.seconds});
  if (last_.size() > window_) last_.pop_front();
  // It encodes queries before it says for the first time how far it is.
  if (plan_.ValidationDue(loop.state())) left_.BeginValidation(SecondsSince(begin_));
  Update(loop, Detail(loop));
  return Next::kGoOn;
}

bool ProgressObserver::DuringValidation(const Loop& loop, double share) {
  left_.BeginValidation(SecondsSince(begin_));
  Update(loop, fmt::format("validating {:.0f}%", 100 * share), share);
  return true;
}

bool ProgressObserver::DuringMining(const Loop& loop, const MiningStage& stage) {
  const std::string left =
      stage.share > 0
          ? fmt::format(", {} left", FormatDuration(stage.seconds / stage.share - stage.seconds))
          : std::string();
  Update(loop, fmt::format("mining: {} {:.0f}%{}", stage.work, 100 * stage.share, left));
  return true;
}

// Restarts the clock after a mining round before the first step, because its time says nothing
// about how long steps take.
void ProgressObserver::AfterMining(const Loop& loop, const MiningReport& /*report*/) {
  Update(loop, Detail(loop));
  if (last_.empty()) RestartClock(loop);
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
  left_.EndValidation(report.seconds);
  Update(loop, Detail(loop));
  // The time of the validation before the first step says nothing about how long steps take.
  if (last_.empty()) RestartClock(loop);
}

void ProgressObserver::End(const Loop& /*loop*/) { bar_->Finish(); }
void ProgressObserver::Interrupt(const Loop& /*loop*/) { bar_->Finish(); }

}  // namespace tandem::train
