// `tandem evaluate`: measures of a run, of a model on a data set, or of models on data sets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "cli/process/job_options.h"
#include "commands/evaluate/evaluation_plan.h"
#include "commands/model_flags.h"

namespace tandem::app {

// What is measured of a suite where nobody says: what papers on many sets report.
inline constexpr const char* kSuiteMeasures = "ndcg@10";

struct EvaluateOptions {
  Globals globals;
  JobOptions job;
  // Either these two ...
  std::string qrels;
  std::string run;
  // ... or these, with a suite or without.
  std::vector<std::string> models;
  std::vector<std::string> datasets;
  std::string suite;           // TOML file or folder of BEIR folders; "": none
  ModelFlags model;            // `model` is the one of `models` where there is one
  std::string split;           // "" where not given: test, or what the suite says
  std::string candidates;      // TREC run that is ranked again; "": none
  std::optional<size_t> pool;  // documents; none: the whole corpus
  std::string embeddings;      // folder that keeps the corpus's vectors; "": none
  bool no_cache = false;       // of a suite

  std::string measures;  // comma-separated; "" where not given: those that suit the input
  bool per_query = false;
  bool views = false;  // of the embedding space; with a model
  double relevance_level = 1;
  bool complete = false;              // always so with a model
  bool ignore_identical_ids = false;  // results with the id of their query do not count
  std::optional<size_t> max_results;  // 0: all; none: all of a run, 1000 of a model
  std::string score_precision = "double";
  std::string thresholds;  // wishes, comma-separated (eval/samples/thresholds.h); "": none
  std::string format = "text";
};

struct ThresholdRequest;  // commands/evaluate/threshold_output.h
// What --thresholds asks for.
ThresholdRequest RequestOf(const EvaluateOptions& options);

// Whether there is more to show than one model on one data set.
bool IsSuite(const EvaluateOptions& options);

// The work of `tandem evaluate --model`, in evaluate_model_run.cc: scores every judged query of the
// data set's split against its corpus, evaluates, and prints as with a run. The options are
// checked. Needs tensors.
void RunEvaluateModel(const EvaluateOptions& options, const EvaluatedSet& set);

// The same for all models and sets of a plan, in evaluate_suite_run.cc; prints one table.
void RunEvaluateSuite(const EvaluateOptions& options, const EvaluationPlan& plan);

}  // namespace tandem::app
