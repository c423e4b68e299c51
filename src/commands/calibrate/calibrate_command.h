// `tandem calibrate`: fits how a model's scores become probabilities, and keeps it in the folder.
#pragma once

#include <optional>
#include <string>

#include "cli/globals.h"
#include "commands/model_flags.h"

namespace tandem::app {

struct CalibrateOptions {
  Globals globals;
  ModelFlags model;
  std::string dataset;
  std::string split = "dev";
  std::optional<std::string> method;  // "objective", "platt" or "isotonic"; none: the default
  double relevance_level = 1;
  bool dry_run = false;    // measures, changes nothing
  std::string embeddings;  // folder that keeps the corpus's vectors; "": none
  std::string format = "text";
};

// The work, in calibrate_run.cc. Needs tensors.
void RunCalibrate(const CalibrateOptions& options);

}  // namespace tandem::app
