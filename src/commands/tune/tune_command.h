// The options of `tandem tune`; the work is in tune_run.cc.
#pragma once

#include <string>
#include <vector>

#include "cli/globals.h"
#include "cli/process/job_options.h"

namespace tandem::app {

struct TuneOptions {
  Globals globals;
  JobOptions job;
  std::string recipe;
  std::vector<std::string> sets;
  std::string output;
  std::string budget;  // "": none
  std::string format = "text";
  bool resume = false;
  bool ignore_limits = false;
};

// Does the work, in tune_run.cc. Needs tensors.
void RunTune(const TuneOptions& options);

}  // namespace tandem::app
