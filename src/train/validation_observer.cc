#include "train/validation_observer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "train/checkpoint.h"
#include "train/loop.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<double> NumberAt(const nlohmann::json& state, const char* key) {
  const auto found = state.find(key);
  if (found == state.end()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

Next ValidationObserver::Begin(const Loop& loop) {
  const int64_t step = loop.state().step;
  const bool due = step == 0 ? !state_.base_value
                             : plan_.ValidationDue(loop.state()) && state_.validated_step < step;
  return due ? Validate(loop) : Next::kGoOn;
}

Next ValidationObserver::AfterStep(const Loop& loop, const StepReport& /*report*/) {
  return plan_.ValidationDue(loop.state()) ? Validate(loop) : Next::kGoOn;
}

Next ValidationObserver::Validate(const Loop& loop) {
  const Clock::time_point start = Clock::now();
  const int64_t step = loop.state().step;
  const std::optional<double> value =
      validator_.Measure(loop.model(), loop.objective_states(),
                         [&loop](double share) { return loop.TellDuringValidation(share); });
  if (!value) return Next::kInterrupt;
  if (!std::isfinite(*value)) {
    throw DivergedError(step, fmt::format("the validation's {} is {}", measure_, *value));
  }
  const bool best = Count(step, *value);
  if (best) {
    SaveWeights(folder_.Best(step), loop.SavedParameters(), {{"step", step}, {measure_, *value}});
  }
  loop.TellAfterValidation(
      {.measure = measure_.c_str(),
       .value = *value,
       .best = best,
       .seconds = std::chrono::duration<double>(Clock::now() - start).count()});
  return OutOfPatience() ? Next::kStop : Next::kGoOn;
}

bool ValidationObserver::Count(int64_t step, double value) {
  const auto better = [&](const std::optional<double>& than) {
    return !than || validator_.Better(value, *than);
  };
  state_.validated_step = step;
  if (step == 0) {
    state_.base_value = value;
  } else if (better(state_.best_trained_value)) {
    state_.best_trained_step = step;
    state_.best_trained_value = value;
  }
  const bool best = better(state_.best_value);
  if (best) {
    state_.best_step = step;
    state_.best_value = value;
  }
  state_.validations_without_improvement = best ? 0 : state_.validations_without_improvement + 1;
  return best;
}

void ValidationObserver::End(const Loop& loop) {
  if (!OutOfPatience()) return;
  Note(fmt::format("stopped at step {}: {} has not improved in {} validations", loop.state().step,
                   measure_, patience_));
}

void ValidationObserver::Save(nlohmann::json& state) const {
  state["validated_step"] = state_.validated_step;
  state["best_step"] = state_.best_step;
  state["best_value"] = state_.best_value.value_or(0);
  state["validations_without_improvement"] = state_.validations_without_improvement;
  if (state_.base_value) state["base_value"] = *state_.base_value;
  if (!state_.best_trained_value) return;
  state["best_trained_step"] = state_.best_trained_step;
  state["best_trained_value"] = *state_.best_trained_value;
}

// A checkpoint of an earlier version has no base_value, and best_step 0 where nothing was
// validated.
void ValidationObserver::Restore(const nlohmann::json& state) {
  state_ = {};
  state_.validated_step = state.at("validated_step").get<int64_t>();
  state_.best_step = state.at("best_step").get<int64_t>();
  state_.validations_without_improvement =
      state.at("validations_without_improvement").get<int64_t>();
  state_.base_value = NumberAt(state, "base_value");
  if (state_.base_value || state_.best_step > 0) state_.best_value = NumberAt(state, "best_value");
  state_.best_trained_step = state.value("best_trained_step", state_.best_step);
  state_.best_trained_value = NumberAt(state, "best_trained_value");
  if (!state_.base_value && !state_.best_trained_value) {
    state_.best_trained_value = state_.best_value;
  }
}

}  // namespace tandem::train
