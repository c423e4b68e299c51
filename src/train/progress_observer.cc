#include "train/progress_observer.h"

#include <fmt/format.h>

#include <algorithm>

#include "train/loop.h"

namespace tandem::train {

// The bar's clock starts with the first use.
Progress& ProgressObserver::Bar(const Loop& loop) {
  if (!bar_) {
    bar_.emplace(ProgressOptions{
        .label = "train", .unit = "steps", .total = static_cast<uint64_t>(loop.steps())});
  }
  return *bar_;
}

std::string ProgressObserver::Detail() const {
  double loss = 0, seconds = 0;
  int64_t tokens = 0;
  for (const StepFigures& step : last_) {
    loss += step.loss;
    tokens += step.tokens;
    seconds += step.seconds;
  }
  if (last_.empty()) return validation_.empty() ? "" : validation_.substr(2);
  return fmt::format("loss {:.4f}, {:.0f} tokens/s{}", loss / static_cast<double>(last_.size()),
                     static_cast<double>(tokens) / std::max(1e-9, seconds), validation_);
}

Next ProgressObserver::Begin(const Loop& loop) {
  Bar(loop).Update(static_cast<uint64_t>(loop.state().step));
  return Next::kGoOn;
}

Next ProgressObserver::AfterStep(const Loop& loop, const StepReport& report) {
  last_.push_back({report.loss, report.tokens, report.seconds});
  if (last_.size() > window_) last_.pop_front();
  Bar(loop).Update(static_cast<uint64_t>(loop.state().step), Detail());
  return Next::kGoOn;
}

bool ProgressObserver::DuringValidation(const Loop& loop, double share) {
  Bar(loop).Update(static_cast<uint64_t>(loop.state().step),
                   fmt::format("validating {:.0f}%", 100 * share));
  return true;
}

void ProgressObserver::AfterValidation(const Loop& loop, const ValidationReport& report) {
  validation_ = fmt::format(", {} {:.4f}", report.measure, report.value);
  Bar(loop).Update(static_cast<uint64_t>(loop.state().step), Detail());
}

void ProgressObserver::End(const Loop& loop) { Bar(loop).Finish(); }
void ProgressObserver::Interrupt(const Loop& loop) { Bar(loop).Finish(); }

}  // namespace tandem::train
