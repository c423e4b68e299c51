// `tandem evaluate`: measures of a run, or of a model on a data set.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/model_flags.h"

namespace tandem::app {

struct EvaluateOptions {
  // Either these two ...
  std::string qrels;
  std::string run;
  // ... or these.
  ModelFlags model;
  std::string dataset;
  std::string split;       // "" where not given: test
  std::string embeddings;  // folder that keeps the corpus's vectors; "": none

  std::string measures;  // comma-separated; "" where not given: those that suit the input
  bool per_query = false;
  bool views = false;  // of the embedding space; with a model
  double relevance_level = 1;
  bool complete = false;              // always so with a model
  std::optional<size_t> max_results;  // 0: all; none: all of a run, 1000 of a model
  std::string score_precision = "single";
  std::string format = "text";
};

// The work of `tandem evaluate --model`, in evaluate_model_run.cc: scores every judged query of the
// data set's split against its corpus, evaluates, and prints with PrintEvaluation. The options are
// checked. Needs tensors.
void RunEvaluateModel(const EvaluateOptions& options);

}  // namespace tandem::app
