// `tandem train --seeds N`: runs of one recipe that differ in their seed alone, and what they came
// to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/train_command.h"

namespace tandem::app {

// One of the runs: its options name its seed and its folder.
struct SeedRun {
  int64_t seed = 0;
  TrainOptions options;
};

// Returns the runs of `options.seeds` seeds, from the recipe's seed (or --seed) on, in the folders
// OUTPUT/seed-SEED. Throws UsageError without an output, and, unless the runs are resumed, where
// OUTPUT holds anything, if this process looks (`looks`: rank 0 alone does, and no job that its
// launcher has restarted); the errors of reading the recipe.
std::vector<SeedRun> SeedRunsOf(const TrainOptions& options, bool looks);

// Formats a row for each finished run, their mean with its interval, and their spread: "text",
// "tsv" or "json" (docs/cli/train.md). Throws DataError for logs that cannot be read.
std::string FormatSeedRuns(const std::vector<SeedRun>& runs, const std::string& format);

}  // namespace tandem::app
