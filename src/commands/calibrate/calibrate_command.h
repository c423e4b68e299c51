// `tandem calibrate`: fits a map from a model's scores to probabilities, or chooses thresholds that
// promise something, and saves that in the model's folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "eval/guarantees/promise.h"

namespace tandem::app {

struct CalibrateOptions {
  Globals globals;
  ModelFlags model;
  std::string dataset;
  std::string split = "dev";
  std::optional<std::string> method;  // "objective", "platt" or "isotonic"; none: the default
  double relevance_level = 1;
  std::optional<size_t> depth;  // best documents of a query that count; none: all samples
  // Promises (eval/guarantees/promise.h); none: a probability is fitted.
  std::vector<std::string> guarantees;
  std::string unanswerable;  // file of queries without an answer, or "held-out"; "": none
  std::string by;            // field of the queries by which promises are made; "": for all
  bool judged_only = false;  // documents that nobody judged do not count
  bool dry_run = false;      // measures, but changes nothing
  std::string embeddings;    // folder that keeps the corpus's embeddings; "": none
  bool no_cache = false;
  std::string format = "text";
};

// Does the work, in calibrate_run.cc. Needs tensors.
void RunCalibrate(const CalibrateOptions& options);
// The same for options.guarantees, which are `promises`, in guarantee_run.cc.
void RunCalibrateGuarantee(const CalibrateOptions& options,
                           const std::vector<eval::Promise>& promises);

}  // namespace tandem::app
