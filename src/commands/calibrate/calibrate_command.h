// `tandem calibrate`: fits a map from a model's scores to probabilities, and saves it in the
// model's folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/globals.h"
#include "commands/model/model_flags.h"

namespace tandem::app {

struct CalibrateOptions {
  Globals globals;
  ModelFlags model;
  std::string dataset;
  std::string split = "dev";
  std::optional<std::string> method;  // "objective", "platt" or "isotonic"; none: the default
  double relevance_level = 1;
  std::optional<size_t> depth;  // best documents of a query that count; none: all samples
  bool dry_run = false;         // measures, but changes nothing
  std::string embeddings;       // folder that keeps the corpus's embeddings; "": none
  bool no_cache = false;
  std::string format = "text";
};

// Does the work, in calibrate_run.cc. Needs tensors.
void RunCalibrate(const CalibrateOptions& options);

}  // namespace tandem::app
