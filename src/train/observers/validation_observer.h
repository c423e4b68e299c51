// Validates before the first step and at the plan's steps, keeps the best weights, and stops the
// run when patience has run out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "train/observers/observer.h"
#include "train/run/run_folder.h"
#include "train/setup/plan.h"
#include "train/validation/validator.h"

namespace tandem::train {

// What the validations of a run have found so far.
struct ValidationState {
  int64_t validated_step = 0;  // of the last validation
  // The best step; 0 is the model before training. Without a `best_value` there is none yet.
  int64_t best_step = 0;
  std::optional<double> best_value;
  // The model before training. None in a run that an earlier version began: it did not measure it.
  std::optional<double> base_value;
  // The best after at least one step.
  int64_t best_trained_step = 0;
  std::optional<double> best_trained_value;
  int64_t validations_without_improvement = 0;
};

class ValidationObserver final : public LoopObserver {
 public:
  // `patience`: the validations without improvement that end the run; 0: they never do. The
  // validation before the first step costs none. `validator` and `folder` outlive the observer.
  // Only rank 0 of a group writes weights.
  ValidationObserver(Validator& validator, const RunFolder& folder, const RunPlan& plan,
                     int64_t patience)
      : validator_(validator),
        folder_(folder),
        plan_(plan),
        patience_(patience),
        measure_(validator.name()) {}

  // Validates the model before training; in a resumed run, what an interruption cut short.
  Next Begin(const Loop& loop) override;
  Next AfterStep(const Loop& loop, const StepReport& report) override;
  void End(const Loop& loop) override;
  void VisitState(StateVisitor visit) override;

  const ValidationState& state() const { return state_; }

 private:
  Next Validate(const Loop& loop);
  // Returns whether `value` is the best so far.
  bool Count(int64_t step, double value);
  void NoteCost() const;
  bool OutOfPatience() const {
    return patience_ > 0 && state_.validations_without_improvement >= patience_;
  }

  Validator& validator_;
  const RunFolder& folder_;
  RunPlan plan_;
  int64_t patience_;
  std::string measure_;
  ValidationState state_;
  // Of this process.
  std::chrono::steady_clock::time_point begin_;
  double seconds_ = 0;
  int64_t validations_ = 0;
};

}  // namespace tandem::train
