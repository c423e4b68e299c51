// The input and the output of `tandem mine`, for rankings by a model or by a run.
#pragma once

#include <optional>
#include <string>

#include "commands/line_flags.h"
#include "data/training_set.h"
#include "search/mining/mined.h"
#include "search/mining/mining_task.h"

namespace tandem::app {

struct MiningSource {
  std::string dataset;                   // BEIR folder or file of training lines
  std::string format = "auto";           // as in recipes
  std::string split = "train";           // for a folder
  std::optional<double> positive_grade;  // none: 1
  LineFlags lines;
  bool ignore_identical_ids = false;  // whether a document with a query's id is not mined for it

  double positive_grade_or_default() const { return positive_grade.value_or(1); }
};

struct MiningOutput {
  std::string path;
  std::string format = "flag_embedding";  // or sentence_transformers, beir
  std::string summary = "text";           // or json
};

struct MiningData {
  data::TrainingSet set;
  search::MiningTask task;
  std::string query_prompt;  // query prompt of the lines
  bool has_grades = false;
};

// Reads the data. Throws the errors of reading, and DataError if there is nothing to mine. Warns
// about scores and about documents judged irrelevant, which the output will not have, and says how
// many queries are themselves documents of the corpus.
MiningData ReadMiningData(const MiningSource& source);

// Throws UsageError, before any work, if the output exists.
void CheckMiningOutput(const MiningOutput& output);

// Writes the whole data set with its negatives or nothing, and prints the summary to standard
// output.
void FinishMining(const MiningData& data, const search::MiningRules& rules,
                  const search::Mined& mined, const MiningSource& source,
                  const MiningOutput& output);

}  // namespace tandem::app
