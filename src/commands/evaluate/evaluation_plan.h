// Which models `tandem evaluate` measures on which data sets, and what it found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands/evaluate/evaluation_output.h"
#include "commands/evaluate/threshold_output.h"
#include "commands/model_flags.h"
#include "eval/evaluate.h"

namespace tandem::app {

struct EvaluateOptions;  // commands/evaluate/evaluate_command.h

struct EvaluatedModel {
  std::string name;  // of no other model in the plan
  ModelFlags flags;
};

struct EvaluatedSet {
  std::string name;        // of no other set in the plan
  std::string folder;      // BEIR
  std::string split;       // of its judgements
  std::string candidates;  // a TREC run whose lists are ranked again; "": the corpus is ranked
  size_t pool = 0;         // documents of the corpus that are ranked; 0: all
};

struct EvaluationPlan {
  std::vector<EvaluatedModel> models;
  std::vector<EvaluatedSet> sets;
  std::string measures;  // separated by commas
};

// One model on one set.
struct ModelEvaluation {
  eval::Evaluation evaluation;
  std::vector<eval::Remark> remarks;
  size_t documents = 0;                            // that were ranked for each query, at most
  size_t corpus = 0;                               // documents of the set
  std::vector<FurtherFigures> further = {};        // of one model on one set
  std::optional<ThresholdReport> thresholds = {};  // where wished for; among `further` too
};

// What the flags and, if there is one, the suite ask for: those of the flags first. A suite is a
// TOML file (config/suite.h) or a folder of BEIR folders, which are taken in the order of their
// names. Flags win over the file. Models and sets that the user does not name have the ends of
// their paths as names, as many parts as tell them apart; where several splits of a folder are
// sets, a split's name follows the folder's.
//
// Everything that can be is checked here, before anything is encoded: throws RecipeError and
// UsageError for what is wrong with flags and file, for a model or a set that is there twice, and
// DataError and ModelError for folders and files that are missing.
EvaluationPlan PlanEvaluation(const EvaluateOptions& options);

// A name for each path: its last part, or as many more as tell it from the others. Throws
// UsageError for a path that is there twice; `what` says what it is ("model").
std::vector<std::string> NamesOfPaths(const std::vector<std::string>& paths, const char* what);

}  // namespace tandem::app
