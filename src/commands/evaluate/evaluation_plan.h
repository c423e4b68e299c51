// Plans which models `tandem evaluate` measures on which data sets, and holds the results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/threshold_output.h"
#include "commands/model/model_flags.h"
#include "eval/evaluate.h"

namespace tandem::app {

struct EvaluateOptions;  // commands/evaluate/evaluate_command.h

struct EvaluatedModel {
  std::string name;  // unique among the plan's models
  ModelFlags flags;
};

struct EvaluatedSet {
  std::string name;        // unique among the plan's sets
  std::string folder;      // BEIR
  std::string split;       // of its judgements
  std::string candidates;  // a TREC run whose lists are ranked again; "": the corpus is ranked
  size_t pool = 0;         // documents of the corpus that are ranked; 0: all
  // Its own prompts: names of the model's prompts, or texts; none: the model's.
  std::optional<std::string> query_prompt = {}, document_prompt = {};
};

struct EvaluationPlan {
  std::vector<EvaluatedModel> models;
  std::vector<EvaluatedSet> sets;
  std::string measures;  // separated by commas
};

// The result of one model on one set.
struct ModelEvaluation {
  eval::Evaluation evaluation;
  std::vector<eval::Remark> remarks;
  size_t documents = 0;                            // most documents that were ranked for a query
  size_t corpus = 0;                               // documents of the set
  std::vector<FurtherFigures> further = {};        // only for one model on one set
  std::optional<ThresholdReport> thresholds = {};  // if asked for; `further` shows them too
  // The error of a guarantee that is broken, for after everything is printed; "": none is.
  std::string broken_guarantee = {};
};

// Plans what the flags and, if there is one, the suite ask for; the sets of the flags come first. A
// suite is a TOML file (config/suite.h) or a folder of BEIR folders, which are taken in the order
// of their names. Flags override the file. Models and sets that the user does not name are named by
// the last parts of their paths, as many as are needed to tell them apart; if several splits of a
// folder are sets, the split's name is added to the folder's.
//
// Everything that can be checked before encoding is checked here. Throws RecipeError and UsageError
// for errors in flags and file and for a model or a set that occurs twice, and DataError and
// ModelError for folders and files that are missing.
EvaluationPlan PlanEvaluation(const EvaluateOptions& options);

// Returns a name for each path: its last part, or as many more as tell it from the others. Throws
// UsageError for a path that occurs twice; `what` says what it is ("model").
std::vector<std::string> NamesOfPaths(const std::vector<std::string>& paths, const char* what);

}  // namespace tandem::app
