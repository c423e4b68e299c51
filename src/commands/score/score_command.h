// `tandem score`: makes grades or teacher scores of a data set's judged pairs with a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/globals.h"
#include "commands/line_flags.h"
#include "commands/model/model_flags.h"
#include "data/judgements/judged_pairs.h"

namespace tandem::app {

struct ScoreOptions {
  Globals globals;
  ModelFlags model;                       // a bi-encoder or a cross-encoder
  std::optional<size_t> max_pair_tokens;  // for a cross-encoder; none: the folder's
  std::string label;                      // for a cross-encoder, name or number; "": the only one
  std::string dataset;                    // BEIR folder or file of training lines
  std::string as;                         // "grades" or "teacher"
  std::string output;
  std::string to;             // format of the output; "": the format of the data
  std::string from = "auto";  // format of the data
  std::string split;          // for a BEIR folder; "": train
  LineFlags lines;
  bool no_cache = false;
  std::string format = "text";  // of the report: text or json

  std::string split_or_default() const { return split.empty() ? "train" : split; }
  data::ScoreRole role() const {
    return as == "grades" ? data::ScoreRole::kGrades : data::ScoreRole::kTeacher;
  }
};

// Does the work, in score_run.cc. Needs tensors.
void RunScore(const ScoreOptions& options);

}  // namespace tandem::app
