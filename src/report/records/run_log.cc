#include "report/records/run_log.h"

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "data/input/line_reader.h"

namespace tandem::report {
namespace {

// Calls `take` with the row of each line, where `read` finds one; returns the number of others.
template <typename Read, typename Take>
size_t ReadLines(const std::filesystem::path& path, const Read& read, const Take& take) {
  size_t unreadable = 0;
  if (!std::filesystem::exists(path)) return unreadable;
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view line;
  while (reader.Next(&line)) {
    if (auto row = read(line)) {
      std::visit(take, std::move(*row));
    } else {
      ++unreadable;
    }
  }
  return unreadable;
}

}  // namespace

const ValidationRow* RunLog::BestValidation() const {
  const auto best = std::find_if(validations.rbegin(), validations.rend(),
                                 [](const ValidationRow& row) { return row.best; });
  return best == validations.rend() ? nullptr : &*best;
}

RunLog ReadRunLog(const std::filesystem::path& metrics) {
  RunLog log;
  const auto take = [&log](auto row, auto& rows) {
    log.step = std::max(log.step, row.step);
    rows.push_back(std::move(row));
  };
  log.unreadable_lines =
      ReadLines(metrics, ReadMetricsRow,
                Overloaded{[&](StepRow row) { take(std::move(row), log.steps); },
                           [&](ValidationRow row) { take(std::move(row), log.validations); },
                           [&](MiningRow row) { take(std::move(row), log.minings); },
                           [&](FinishedRow row) {
                             log.step = std::max(log.step, row.step);
                             log.finished = std::move(row);
                           }});
  return log;
}

TimingLog ReadTimingLog(const std::filesystem::path& timing) {
  TimingLog log;
  log.unreadable_lines =
      ReadLines(timing, ReadTimingRow,
                Overloaded{[&](StartRow row) { log.starts.push_back(std::move(row)); },
                           [&](StepTimeRow row) { log.steps.push_back(row); },
                           [&](ValidationTimeRow row) { log.validations.push_back(row); },
                           [&](MiningTimeRow row) { log.minings.push_back(row); },
                           [&](EndRow row) { log.ends.push_back(row); }});
  return log;
}

}  // namespace tandem::report
