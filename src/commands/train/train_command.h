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
  bool check = false;
  bool check_gradient_cache = false;
  bool profile = false;
  bool ignore_limits = false;
  int64_t profile_steps = 0;  // > 0: make only so many steps
  std::string format;         // of the profile; "" if not given: text
};

// Does the work, in train_run.cc. Needs tensors.
void RunTrain(const TrainOptions& options);

}  // namespace tandem::app
