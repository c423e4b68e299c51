#include "report/sweep/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tandem::report {
namespace {

constexpr const char* kWhatToDo =
    "lines of the file were lost or changed: copy it again from where the run was made, or train "
    "the run anew";

std::string AtEnd(const RunRecord& run, const std::string& problem) {
  return fmt::format("{}/metrics.jsonl:{}: {}; {}", run.name, run.log.finished_line, problem,
                     kWhatToDo);
}

// The value of a measure in a row of validation at this step that was the best one.
std::optional<double> BestValueAt(const RunLog& log, int64_t step, std::string_view measure) {
  std::optional<double> value;
  for (const ValidationRow& row : log.validations) {
    if (row.step != step || !row.best) continue;
    for (const NamedNumber& number : row.measures) {
      if (number.name == measure) value = number.AsDouble();
    }
  }
  return value;
}

// The same number, but for the rounding of an earlier version's text.
bool IsAlike(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(a)); }

std::optional<std::string> EndFault(const RunRecord& run) {
  const RunLog& log = run.log;
  const FinishedRow& end = *log.finished;
  if (log.step > end.step) {
    return AtEnd(run,
                 fmt::format("finished.step is {}, and a row is of step {}", end.step, log.step));
  }
  const ValidationRow* const best = log.BestValidation();
  if (best != nullptr && best->step != end.model_step) {
    return AtEnd(run,
                 fmt::format("finished.model_step is {}, and the best validation that is there "
                             "is of step {}",
                             end.model_step, best->step));
  }
  for (const NamedNumber& number : end.best) {
    const std::optional<double> value = BestValueAt(log, end.model_step, number.name);
    if (value && IsAlike(*value, number.AsDouble())) continue;
    return AtEnd(run, fmt::format("finished.best_{} is {} at step {}, and {}", number.name,
                                  number.AsDouble(), end.model_step,
                                  value ? fmt::format("the validation there has {}", *value)
                                        : "no best validation of that step is there"));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> LogFault(const RunRecord& run) {
  const RunLog& log = run.log;
  const bool has_rows =
      log.finished || !log.steps.empty() || !log.validations.empty() || !log.minings.empty();
  if (!has_rows && log.unreadable_lines > 0) {
    return fmt::format("{}/metrics.jsonl:{}: no line of it is a row of a run's log; {}", run.name,
                       log.first_unreadable, kWhatToDo);
  }
  return log.finished ? EndFault(run) : std::nullopt;
}

RunState StateOf(const RunRecord& run) {
  if (run.keys.empty() || LogFault(run)) return RunState::kBroken;
  return run.log.finished ? RunState::kFinished : RunState::kUnfinished;
}

}  // namespace tandem::report
