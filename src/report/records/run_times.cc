#include "report/records/run_times.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace tandem::report {
namespace {

// The sum of the times that are numbers.
template <typename Rows, typename Member>
double SumOf(const Rows& rows, Member member) {
  double sum = 0;
  for (const auto& row : rows) sum += std::isfinite(row.*member) ? row.*member : 0;
  return sum;
}

// The time of validations or mining up to each step. A process that went on from a checkpoint
// repeats steps: its rows replace those of the same steps.
class Elapsed {
 public:
  template <typename Rows>
  explicit Elapsed(const Rows& rows) {
    std::map<int64_t, double> by_step;
    for (const auto& row : rows) {
      by_step.erase(by_step.lower_bound(row.step), by_step.end());
      by_step[row.step] = row.seconds;
    }
    double seconds = 0;
    for (const auto& [step, part] : by_step) seconds_[step] = seconds += part;
  }

  // Not a number after a row without its time.
  double To(int64_t step) const {
    const auto after = seconds_.upper_bound(step);
    return after == seconds_.begin() ? 0 : std::prev(after)->second;
  }

 private:
  std::map<int64_t, double> seconds_;
};

// The time of steps up to each step: of a row that reaches beyond it the share of its steps. Not a
// number where a row of them lacks its time, or some have no row.
double SecondsOfSteps(const std::vector<StepSpan>& spans, int64_t step) {
  double seconds = 0;
  int64_t reached = 0;
  for (const StepSpan& span : spans) {
    if (span.after >= step) break;
    if (span.after > reached)
      return kNoNumber;  // a killed process wrote no row of what lies between
    const int64_t to = std::min(step, span.to);
    seconds += span.seconds * static_cast<double>(to - span.after) /
               static_cast<double>(span.to - span.after);
    reached = to;
  }
  return reached < step ? kNoNumber : seconds;
}

}  // namespace

void AddTimes(const TimingLog& timing, RunRecord& run) {
  run.times = {{"steps", SumOf(timing.steps, &StepTimeRow::seconds)},
               {"validation", SumOf(timing.validations, &ValidationTimeRow::seconds)},
               {"mining", SumOf(timing.minings, &ValidationTimeRow::seconds)},
               {"reading data", SumOf(timing.starts, &StartRow::read_seconds)},
               {"making token ids", SumOf(timing.starts, &StartRow::tokenise_seconds)}};
  std::erase_if(run.times, [](const TimePart& part) { return part.seconds <= 0; });
  std::stable_sort(run.times.begin(), run.times.end(),
                   [](const TimePart& a, const TimePart& b) { return a.seconds > b.seconds; });
  for (const EndRow& end : timing.ends) {
    run.most_memory_bytes = std::max(run.most_memory_bytes.value_or(0), end.most_memory_bytes);
  }
  const ValidationRow* best = run.log.BestValidation();
  if (best == nullptr || run.times.empty()) return;
  const Elapsed validations(timing.validations), minings(timing.minings);
  const auto until = [&](int64_t step) {
    return SecondsOfSteps(timing.spans, step) + validations.To(step) + minings.To(step);
  };
  const double to_best = until(best->step);
  if (std::isfinite(to_best)) run.seconds_to_best = to_best;
  for (const ValidationRow& row : run.log.validations) {
    run.seconds_to_validations.push_back(until(row.step));
  }
}

}  // namespace tandem::report
