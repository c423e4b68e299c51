#include "report/records/run_log.h"

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "data/input/line_reader.h"

namespace tandem::report {
namespace {

struct UnreadableLines {
  size_t count = 0;
  int64_t first = 0;  // from 1
};

// Calls `take` with the row of each line, where `read` finds one, while `at` is the line's number;
// returns which lines are others.
template <typename Read, typename Take>
UnreadableLines ReadLines(const std::filesystem::path& path, const Read& read, const Take& take,
                          int64_t& at) {
  UnreadableLines unreadable;
  if (!std::filesystem::exists(path)) return unreadable;
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view line;
  while (reader.Next(&line)) {
    at = reader.line_number();
    if (auto row = read(line)) {
      std::visit(take, std::move(*row));
    } else if (++unreadable.count == 1) {
      unreadable.first = at;
    }
  }
  return unreadable;
}

// Cuts off what was done after `step`; of a span that reaches beyond it its share stays.
void CutAfter(int64_t step, std::vector<StepSpan>& spans) {
  while (!spans.empty() && spans.back().after >= step) spans.pop_back();
  if (spans.empty() || spans.back().to <= step) return;
  StepSpan& last = spans.back();
  last.seconds *=
      static_cast<double>(step - last.after) / static_cast<double>(last.to - last.after);
  last.to = step;
}

void AddSpan(const StepTimeRow& row, int64_t after, std::vector<StepSpan>& spans) {
  if (row.step <= after) {  // repeated steps of which no start row tells
    while (!spans.empty() && spans.back().to >= row.step) spans.pop_back();
    after = spans.empty() ? 0 : spans.back().to;
  }
  if (row.step > after) spans.push_back({after, row.step, row.seconds});
}

}  // namespace

const ValidationRow* RunLog::BestValidation() const {
  const auto best = std::find_if(validations.rbegin(), validations.rend(),
                                 [](const ValidationRow& row) { return row.best; });
  return best == validations.rend() ? nullptr : &*best;
}

RunLog ReadRunLog(const std::filesystem::path& metrics) {
  RunLog log;
  int64_t at = 0;
  const auto take = [&log](auto row, auto& rows) {
    log.step = std::max(log.step, row.step);
    rows.push_back(std::move(row));
  };
  const UnreadableLines unreadable =
      ReadLines(metrics, ReadMetricsRow,
                Overloaded{[&](StepRow row) { take(std::move(row), log.steps); },
                           [&](ValidationRow row) { take(std::move(row), log.validations); },
                           [&](MiningRow row) { take(std::move(row), log.minings); },
                           [&](FinishedRow row) {
                             log.step = std::max(log.step, row.step);
                             log.finished = std::move(row);
                             log.finished_line = at;
                           }},
                at);
  log.unreadable_lines = unreadable.count;
  log.first_unreadable = unreadable.first;
  return log;
}

TimingLog ReadTimingLog(const std::filesystem::path& timing) {
  TimingLog log;
  int64_t at = 0;
  int64_t done = 0;  // steps before those of the next row
  const UnreadableLines unreadable =
      ReadLines(timing, ReadTimingRow,
                Overloaded{[&](StartRow row) {
                             CutAfter(row.resumed_from, log.spans);
                             done = row.resumed_from;
                             log.starts.push_back(std::move(row));
                           },
                           [&](StepTimeRow row) {
                             AddSpan(row, done, log.spans);
                             done = row.step;
                             log.steps.push_back(row);
                           },
                           [&](ValidationTimeRow row) { log.validations.push_back(row); },
                           [&](MiningTimeRow row) { log.minings.push_back(row); },
                           [&](EndRow row) { log.ends.push_back(row); }},
                at);
  log.unreadable_lines = unreadable.count;
  log.first_unreadable = unreadable.first;
  return log;
}

}  // namespace tandem::report
