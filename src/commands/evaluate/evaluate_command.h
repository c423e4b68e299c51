// `tandem evaluate`: measures a run, a model on a data set, or models on data sets.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "cli/process/job_options.h"
#include "commands/evaluate/evaluation_plan.h"
#include "commands/model/model_flags.h"
#include "eval/significance/bootstrap.h"

namespace tandem::app {

// The default measure of a suite, which papers on many data sets report.
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
  ModelFlags model;            // `model` is the model of `models` if there is only one
  std::string split;           // "" if not given: test, or the suite's
  std::string candidates;      // TREC run whose documents are ranked again; "": none
  std::optional<size_t> pool;  // documents; none: the whole corpus
  std::string embeddings;      // folder that keeps the corpus's embeddings; "": none
  bool no_cache = false;

  std::string measures;           // comma-separated; "" if not given: those that suit the input
  bool default_measures = false;  // nobody gave them
  bool per_query = false;
  std::string group_by;  // field of queries.jsonl; "": no groups
  bool views = false;    // whether to show views of the embedding space; with a model
  std::optional<double> asked_relevance_level;  // --relevance-level
  // What counts: what was asked for, or else the level of the guarantees that are checked, or 1.
  double relevance_level = 1;
  bool complete = false;              // always with a model
  bool by_document = false;           // documents are ranked by their best passages
  bool ignore_identical_ids = false;  // leaves out results with the id of their query
  std::optional<size_t> max_results;  // 0: all; none: all results of a run, 1000 of a model
  std::string score_precision = "double";
  std::string thresholds;  // targets, comma-separated (eval/samples/thresholds.h); "": none
  std::string
      apply_thresholds;  // file of chosen ones (commands/evaluate/threshold_file.h); "": none
  std::vector<std::string> guarantees;  // names of the model's promises, or "all"
  std::string unanswerable;             // as CalibrateOptions::unanswerable; "": as was promised
  std::string format = "text";

  bool cuts_at_scores() const { return !thresholds.empty() || !apply_thresholds.empty(); }
};

struct ThresholdRequest;  // commands/evaluate/threshold_output.h
// Returns the request of --thresholds.
ThresholdRequest RequestOf(const EvaluateOptions& options);

// Returns how intervals of applied thresholds are made.
eval::BootstrapOptions ResamplingOf(const EvaluateOptions& options);

// Whether the command evaluates more than one model on one data set.
bool IsSuite(const EvaluateOptions& options);

// Does the work of `tandem evaluate --model`, in evaluate_model_run.cc: scores every judged query
// of the data set's split against its corpus, evaluates, and prints as with a run. The options must
// have been checked. Needs tensors.
void RunEvaluateModel(const EvaluateOptions& options, const EvaluatedSet& set);

// Does the work for all models and sets of a plan, in evaluate_suite_run.cc, and prints one table.
void RunEvaluateSuite(const EvaluateOptions& options, const EvaluationPlan& plan);

}  // namespace tandem::app
