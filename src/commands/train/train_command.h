// The options of `tandem train`; the work is in train_run.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "cli/process/job_options.h"

namespace tandem::app {

struct TrainOptions {
  Globals globals;
  JobOptions job;
  std::string recipe;
  std::vector<std::string> sets;
  std::string output;
  bool resume = false;
  bool begin_or_resume = false;  // of one of several seeds: a run that is not there begins
  bool check = false;
  bool check_gradient_cache = false;
  bool profile = false;
  bool ignore_limits = false;
  int64_t profile_steps = 0;  // > 0: make only so many steps
  int64_t seeds = 0;          // > 0: so many runs, one after another
  std::string format;         // of the profile, or of the table of seeds; "" if not given: text
};

// Does the work, in train_run.cc. Needs tensors.
void RunTrain(const TrainOptions& options);

}  // namespace tandem::app
