// How long a run still takes: its steps, and the validations that come between them.
#pragma once

#include <cstdint>
#include <optional>

namespace tandem::train {

// Times are seconds of a clock that the caller reads. A step takes what the time without
// validations says; work beside steps, such as checkpoints, counts as theirs. A validation takes as
// long as the last one.
class TimeLeft {
 public:
  // What was done before `now` was preparation; `done` units of work are done.
  void Start(double now, double done) {
    start_ = now;
    first_ = done;
    validating_ = 0;
  }
  // A validation that an earlier process timed.
  void KnowValidation(double seconds) { validation_ = seconds; }
  // A validation began at `now`; calls before its end change nothing.
  void BeginValidation(double now) {
    if (!began_) began_ = now;
  }
  // It ended, or was given up, after `seconds`.
  void EndValidation(double seconds) {
    validation_ = seconds;
    validating_ += seconds;
    began_.reset();
  }

  bool validating() const { return began_.has_value(); }

  struct Work {
    double done = 0;
    double total = 0;
    int64_t validations = 0;  // that follow; not the one under way
    double share = 0;         // of the validation under way that is done
  };
  // None as long as no unit was done since Start.
  std::optional<double> At(double now, const Work& work) const;

 private:
  double start_ = 0;
  double first_ = 0;
  double validating_ = 0;  // since Start, without the validation under way
  std::optional<double> began_;
  std::optional<double> validation_;
};

}  // namespace tandem::train
