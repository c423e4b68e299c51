// `tandem train`: from a recipe to a run folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/interrupt.h"
#include "config/recipe/recipe_parse.h"
#include "dist/process_group.h"
#include "report/tables/table.h"

namespace tandem::train {

struct RunOptions {
  std::filesystem::path output;  // empty: the recipe's
  bool resume = false;
  std::string profile_format;  // text, tsv or json; empty: no profile
  report::TextStyle profile_style;
  std::string version;             // of the program, for the run folder's records
  std::vector<std::string> flags;  // that went over the recipe beside --set: "--seed 7"
  StopRequest stop;                // empty: nothing stops the run before its end
  // The processes that train together; null, or a group of one: this one alone. Only rank 0 reads
  // and writes the run folder.
  dist::ProcessGroup* group = nullptr;
  // Resume where the folder holds a run, else begin one: the launcher has started the job again.
  bool restarted = false;
  // Begin also where memory or disk are sure to be too little (train/checks/resources.h).
  bool ignore_limits = false;
};

// Trains and writes the run folder (docs/training.md). Reads everything before it writes anything.
// Tensor operations run on the threads that the program has given libtorch
// (tensor/machine/process.h). Throws what the parts throw; UsageError where the output is missing,
// there is a run already or another process trains in the folder or memory is sure to be too
// little, RecipeError where a resumed run's recipe differs in what may not change
// (train/checks/extension.h), DataError where its data differ, Interrupted after saving. Returns
// the profile of the steps that were made, in the format that was asked for.
std::string RunTraining(config::LoadedRecipe recipe, const RunOptions& options);

// `tandem train --check`: reads everything, trains nothing. The report says what is there (counts,
// lengths, truncated texts) and estimates memory and time from one timed step, whose gradients are
// thrown away.
// Throws as RunTraining where memory or disk are too little, unless `ignore_limits`.
std::string CheckTraining(config::LoadedRecipe recipe, bool ignore_limits = false);

// `tandem train --profile-steps`: one step to warm up and `steps` more, neither validated nor
// saved; returns the profile of these. Throws Interrupted where `stop` asks for it.
// In a group of processes it is the profile of this one.
std::string ProfileTraining(config::LoadedRecipe recipe, int64_t steps, std::string_view format,
                            const report::TextStyle& style, const StopRequest& stop,
                            dist::ProcessGroup* group = nullptr);

}  // namespace tandem::train
