// Finds the runs that folders of runs among the arguments of `tandem report` hold.
#pragma once

#include <string>
#include <vector>

#include "report/records/report_input.h"

namespace tandem::app {

struct ReportedRuns {
  std::vector<std::string> inputs;  // as given, with each folder of runs replaced by its runs
  report::RunNames names;           // of runs below folders: "lr-1e-5/seed-1"
  std::vector<std::string> unread;  // folders that could not be opened
  bool several = false;             // an input is a folder of runs
};

// Looks below each input that is a folder but neither a run nor a model. A run's name is its path
// below the folder; where there are several inputs, after the folder's own name. Throws UsageError
// for a path that is not there, for a run that two inputs lead to, and for a folder without runs,
// with what was looked for.
ReportedRuns FindReportedRuns(const std::vector<std::string>& inputs);

}  // namespace tandem::app
