// Reads the log files of a training run.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "report/records/metrics_row.h"
#include "report/records/pass_row.h"

namespace tandem::report {

// metrics.jsonl.
struct RunLog {
  int64_t step = 0;  // the last one that a row names
  std::vector<StepRow> steps;
  std::vector<ValidationRow> validations;
  std::vector<MiningRow> minings;
  std::optional<FinishedRow> finished;  // of a run that came to its end
  int64_t finished_line = 0;            // of the file, from 1
  size_t unreadable_lines = 0;          // the last line of a killed run may be cut
  int64_t first_unreadable = 0;         // of these lines

  // The newest validation that was the best one so far; null: there is none.
  const ValidationRow* BestValidation() const;
};

// The steps from `after`, without it, to `to`, and how long they took.
struct StepSpan {
  int64_t after = 0;
  int64_t to = 0;
  double seconds = kNoNumber;
};

// timing.jsonl: the rows of every process that worked on the run.
struct TimingLog {
  std::vector<StartRow> starts;
  std::vector<StepTimeRow> steps;
  // What the steps took that the run went on with, each step once: a process that began from a
  // checkpoint replaces what others did after it. Ascending.
  std::vector<StepSpan> spans;
  std::vector<ValidationTimeRow> validations;
  std::vector<MiningTimeRow> minings;
  std::vector<EndRow> ends;
  size_t unreadable_lines = 0;
  int64_t first_unreadable = 0;
};

// An empty log where there is no file. They throw DataError for a file that cannot be opened.
RunLog ReadRunLog(const std::filesystem::path& metrics);
TimingLog ReadTimingLog(const std::filesystem::path& timing);

}  // namespace tandem::report
