// `tandem prune`: removes the pairs from a data set that a model gives the lowest scores.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/globals.h"
#include "cli/process/job_options.h"
#include "commands/line_flags.h"
#include "commands/model/model_flags.h"

namespace tandem::app {

struct PruneOptions {
  Globals globals;
  JobOptions job;
  std::string dataset;  // BEIR folder or file of training lines
  ModelFlags model;
  double keep = 0;               // share of the pairs, in (0, 1]
  std::string score = "cosine";  // or "consistency"
  std::string output;
  std::string from = "auto";             // format of the data
  std::string split;                     // for a BEIR folder; "": train
  std::optional<double> positive_grade;  // none: 1
  LineFlags lines;
  size_t review = 5;  // pairs of each kind that are printed for review
  bool no_cache = false;
  std::string format = "text";  // of the report: text or json

  double positive_grade_or_default() const { return positive_grade.value_or(1); }
  std::string split_or_default() const { return split.empty() ? "train" : split; }
};

// Does the work, in prune_run.cc. Needs tensors.
void RunPrune(const PruneOptions& options);

}  // namespace tandem::app
