#include "train/observers/validation_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/json/json.h"
#include "base/log.h"
#include "base/progress.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "train/run/checkpoint.h"
#include "train/run/loop.h"
#include "train/seconds_since.h"
#include "train/validation/validation_cost.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the value of rank 0.
double Agreed(const Loop& loop, double value) {
  if (loop.group() == nullptr) return value;
  const tensor::Tensor number = tensor::Full({1}, value, tensor::kDouble);
  loop.group()->Broadcast(number);
  return number.item<double>();
}

}  // namespace

Next ValidationObserver::Begin(const Loop& loop) {
  begin_ = Clock::now();
  const int64_t step = loop.state().step;
  const bool due = step == 0 ? !state_.base_value
                             : plan_.ValidationDue(loop.state()) && state_.validated_step < step;
  return due ? Validate(loop) : Next::kGoOn;
}

Next ValidationObserver::AfterStep(const Loop& loop, const StepReport& report) {
  ++steps_;
  AdviseOnCost(loop, report.seconds);
  return plan_.ValidationDue(loop.state()) ? Validate(loop) : Next::kGoOn;
}

Next ValidationObserver::Validate(const Loop& loop) {
  const Clock::time_point start = Clock::now();
  const int64_t step = loop.state().step;
  const std::optional<Validated> found = Measure(loop);
  if (!found) return Next::kInterrupt;
  // All processes use the value of rank 0, because rounding may differ from machine to machine.
  const double value = Agreed(loop, found->value);
  if (!std::isfinite(value)) {
    if (loop.group() != nullptr) loop.group()->FailTogether();
    throw DivergedError(step, fmt::format("the validation's {} is {}", measure_, value));
  }
  const bool best = Count(step, value);
  if (best && dist::Leads(loop.group())) {
    SaveWeights(folder_.Best(step), loop.SavedParameters(), {{"step", step}, {measure_, value}});
  }
  const double seconds = SecondsSince(start);
  if (step > 0 || !base_) {
    seconds_ += seconds;
    ++validations_;
  }
  loop.TellAfterValidation({.measure = measure_.c_str(),
                            .value = value,
                            .best = state_.validations_without_improvement == 0,
                            .seconds = seconds,
                            .further = found->further,
                            .queries = found->queries,
                            .sources = found->sources});
  NoteSources(step, value, found->sources);
  return OutOfPatience() ? Next::kStop : Next::kGoOn;
}

std::optional<Validated> ValidationObserver::Measure(const Loop& loop) {
  if (loop.state().step == 0 && base_) return base_;
  return validator_.Measure(loop.model(), loop.objective_states(),
                            [&loop](double share) { return loop.TellDuringValidation(share); });
}

bool ValidationObserver::Count(int64_t step, double value) {
  const auto better = [&](const std::optional<double>& than) {
    return !than || validator_.Better(value, *than);
  };
  const bool best_trained = better(state_.best_trained_value);
  const bool improved =
      leaves_out_base_ ? best_trained && better(state_.base_value) : better(state_.best_value);
  const bool best = leaves_out_base_ ? step > 0 && best_trained : improved;
  state_.validated_step = step;
  if (step == 0) {
    state_.base_value = value;
  } else if (best_trained) {
    state_.best_trained_step = step;
    state_.best_trained_value = value;
  }
  if (best) {
    state_.best_step = step;
    state_.best_value = value;
  }
  state_.validations_without_improvement =
      improved ? 0 : state_.validations_without_improvement + 1;
  return best;
}

// Notes the value of each data set, where there are several.
void ValidationObserver::NoteSources(int64_t step, double mean,
                                     const std::vector<SourceValue>& sources) const {
  if (sources.empty()) return;
  std::string values;
  for (const SourceValue& source : sources) {
    values += fmt::format("{}{} {:.4f}", values.empty() ? "" : ", ", source.source, source.value);
  }
  Note(fmt::format("validation at step {}: {} {:.4f}, the mean of {}", step, measure_, mean,
                   values));
}

// Notes the time that validation took in this process. A resumed run does not know the times of
// earlier processes.
void ValidationObserver::NoteCost() const {
  if (validations_ == 0) return;
  const double all = std::max(SecondsSince(begin_), seconds_);
  const std::string time =
      seconds_ < 60 ? fmt::format("{:.1f} s", seconds_) : FormatDuration(seconds_);
  Note(fmt::format("{} {} took {}, {:.0f} % of the time", validations_,
                   validations_ == 1 ? "validation" : "validations", time,
                   100 * seconds_ / std::max(all, 1e-9)));
}

// The first step of a process makes what is made only once, so that the second one is asked.
void ValidationObserver::AdviseOnCost(const Loop& loop, double step_seconds) {
  if (advised_ || validations_ == 0 || steps_ < 2) return;
  advised_ = true;
  const ValidationCost cost{.each_seconds = seconds_ / static_cast<double>(validations_),
                            .count = 1 + plan_.ValidationsAfter({}),
                            .step_seconds = step_seconds * static_cast<double>(loop.steps())};
  if (cost.large()) Note(ValidationCostText(cost, recipe_, validator_.ranked()));
}

void ValidationObserver::End(const Loop& loop) {
  NoteCost();
  if (!OutOfPatience() || loop.state().step == loop.steps()) return;
  Note(fmt::format("stopped at step {}: {} has not improved in {} validations", loop.state().step,
                   measure_, patience_));
}

// Checkpoints of earlier versions have no base_value, and best_step 0 if nothing was validated.
void ValidationObserver::VisitState(StateVisitor visit) {
  ValidationState& state = state_;
  visit.Member("validated_step", state.validated_step);
  visit.Member("best_step", state.best_step);
  visit.Member("validations_without_improvement", state.validations_without_improvement);
  visit.Member("base_value", state.base_value);
  std::optional<double> best = state.best_value.value_or(0);
  visit.Member("best_value", best);
  visit.Member("best_trained_value", state.best_trained_value);
  visit.Member("best_trained_step", state.best_trained_step, state.best_step,
               /*kept=*/state.best_trained_value.has_value());
  if (!visit.reads()) return;
  const bool has_best = (state.base_value && !leaves_out_base_) || state.best_step > 0;
  state.best_value = has_best ? best : std::nullopt;
  if (!state.base_value && !state.best_trained_value) state.best_trained_value = state.best_value;
}

}  // namespace tandem::train
