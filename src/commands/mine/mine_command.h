// `tandem mine`: finds hard negatives for the queries of a data set, in a model's ranking of its
// corpus or in a run.
#pragma once

#include <cstdint>
#include <string>

#include "cli/globals.h"
#include "cli/process/job_options.h"
#include "commands/mine/mining_data.h"
#include "commands/model/model_flags.h"
#include "search/mining/mining_rules.h"

namespace tandem::app {

struct MineOptions {
  Globals globals;
  JobOptions job;
  ModelFlags model;  // model.model "": a run ranks
  std::string run;
  MiningSource source;
  search::MiningRules rules;
  std::string search_precision;         // auto, fp32, bf16; "": the precision of encoding
  uint64_t memory = uint64_t{2} << 30;  // bytes for the search
  std::string embeddings;               // folder of the documents' parts; "": they are encoded
  bool cache = true;                    // use cached embeddings, and keep new ones
  MiningOutput output;
};

// Does the work with a model, in mine_run.cc. Needs tensors.
void RunMineByModel(const MineOptions& options);

}  // namespace tandem::app
