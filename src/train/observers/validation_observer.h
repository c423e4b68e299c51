// Validates before the first step and at the steps of the plan, keeps the best weights, and stops
// the run when the patience is used up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/recipe/recipe.h"
#include "train/observers/observer.h"
#include "train/run/run_folder.h"
#include "train/setup/plan.h"
#include "train/validation/validator.h"

namespace tandem::train {

// The results of a run's validations so far.
struct ValidationState {
  int64_t validated_step = 0;  // step of the last validation
  // The step with the best value; 0 is the base model. If there is no `best_value`, there is none
  // yet.
  int64_t best_step = 0;
  std::optional<double> best_value;
  // The value of the base model. None in a run that an earlier version began, because it did not
  // validate the base model.
  std::optional<double> base_value;
  // The step with the best value among those after at least one step of training.
  int64_t best_trained_step = 0;
  std::optional<double> best_trained_value;
  int64_t validations_without_improvement = 0;
};

class ValidationObserver final : public LoopObserver {
 public:
  // The run ends after `recipe.patience` validations without improvement (0: never); the validation
  // of the base model does not count. `validator` and `folder` must outlive the observer. Only rank
  // 0 of a group writes weights.
  ValidationObserver(Validator& validator, const RunFolder& folder, const RunPlan& plan,
                     const config::ValidationRecipe& recipe)
      : validator_(validator),
        folder_(folder),
        plan_(plan),
        recipe_(recipe),
        patience_(recipe.patience),
        measure_(validator.name()) {}

  // What validating the base model gives, which Begin then takes.
  void set_base(Validated base) { base_ = std::move(base); }

  // The best weights are those after at least one step, also where the base model is better. What
  // counts as an improvement for the patience stays the same.
  void LeaveOutBase() { leaves_out_base_ = true; }

  // Validates the base model. In a resumed run, makes up for a validation that an interruption cut
  // short.
  Next Begin(const Loop& loop) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;
  void End(const Loop& loop) override;
  void VisitState(StateVisitor visit) override;

  const ValidationState& state() const { return state_; }

 private:
  Next Validate(const Loop& loop);
  // None if the validation was stopped.
  std::optional<Validated> Measure(const Loop& loop);
  // Returns whether the weights of now are the best so far.
  bool Count(int64_t step, double value);
  void NoteCost() const;
  // Says once, early in the run, what makes validations take less of the time where they take much.
  void AdviseOnCost(const Loop& loop, double step_seconds);
  void NoteSources(int64_t step, double mean, const std::vector<SourceValue>& sources) const;
  bool OutOfPatience() const {
    return patience_ > 0 && state_.validations_without_improvement >= patience_;
  }

  Validator& validator_;
  const RunFolder& folder_;
  RunPlan plan_;
  config::ValidationRecipe recipe_;
  int64_t patience_;
  std::string measure_;
  std::optional<Validated> base_;
  bool leaves_out_base_ = false;
  ValidationState state_;
  // Numbers of this process.
  std::chrono::steady_clock::time_point begin_;
  double seconds_ = 0;
  int64_t validations_ = 0;
  int64_t steps_ = 0;
  bool advised_ = false;
};

}  // namespace tandem::train
