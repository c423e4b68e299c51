// `tandem compare`: tests whether runs or models differ by more than chance, and on which queries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/model/model_flags.h"
#include "data/judgements/qrels.h"
#include "data/judgements/run.h"
#include "data/texts/texts.h"
#include "eval/significance/compare.h"

namespace tandem::app {

struct CompareCommandOptions {
  Globals globals;
  std::vector<std::string> systems;  // runs (files) and models (folders); the first is the baseline
  std::string qrels;
  std::string dataset;
  std::string split;     // "" if not given: test
  std::string measures;  // comma-separated
  double relevance_level = 1;
  bool complete = false;
  bool by_document = false;           // documents are ranked by their best passages
  bool ignore_identical_ids = false;  // leaves out results with the id of their query
  size_t permutations = eval::kUsualPermutations;
  size_t resamples = 10'000;
  double confidence = 0.95;
  size_t queries = 3;    // queries shown of those that gained most, and of those that lost most
  size_t documents = 3;  // documents of each system shown for a query
  bool no_cache = false;
  ModelFlags lengths;  // of texts and embeddings, for every model
  std::string format = "text";
};

// A system with its measures and its run, whose best documents are shown.
struct ComparedSystem {
  eval::System system;
  data::Run run;
};

// Texts by id; empty if no data set is given.
struct KnownTexts {
  data::Texts queries;
  data::Texts documents;
};

eval::EvaluationOptions EvaluationOptionsOf(const CompareCommandOptions& options);

// Prints remarks with the name of the system that they are about.
void SayOf(const std::string& system, std::vector<eval::Remark> remarks);

// Reads a run and measures it. Throws the errors of ReadTrecRun and EvaluateRun, naming the run.
ComparedSystem ReadSystem(const std::string& path, const data::Qrels& qrels,
                          const CompareCommandOptions& options);

// Compares the systems and prints the result. `texts` may be empty.
void FinishComparison(const std::vector<ComparedSystem>& systems, const data::Qrels& qrels,
                      const KnownTexts& texts, const CompareCommandOptions& options);

// Does the work if one of the systems is a model, in compare_run.cc. The options must have been
// checked.
void RunCompareModels(const CompareCommandOptions& options);

}  // namespace tandem::app
