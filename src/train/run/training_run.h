// `tandem train`: trains by a recipe and writes a run folder.
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
#include "train/inputs/token_store.h"
#include "train/validation/known_base.h"

namespace tandem::train {

class LoopObserver;

struct RunOptions {
  std::filesystem::path output;  // empty: the recipe's `output`
  bool resume = false;
  std::string profile_format;  // text, tsv or json; empty: no profile
  report::TextStyle profile_style;
  std::string version;             // of the program, for the run folder's records
  std::vector<std::string> flags;  // flags that override the recipe, without --set: "--seed 7"
  StopRequest stop;                // empty: nothing stops the run before its end
  // The processes that train together; null, or a group of one: this process trains alone. Only
  // rank 0 reads and writes the run folder.
  dist::ProcessGroup* group = nullptr;
  // Resume if the folder holds a run, else begin one, because the launcher has restarted the job.
  bool restarted = false;
  // Begin even if memory or disk surely have too little room (train/checks/resources.h).
  bool ignore_limits = false;
  // Below 1: the run saves a checkpoint and RunTraining returns at the first validation from this
  // share of the run's length on (train/observers/pause_observer.h). `resume` goes on from there,
  // and the whole run writes the bytes of one without a pause, but for wall times.
  double pause_share = 1;
  // What validating the base model gives: the first one of the model's similarity is taken in place
  // of the validation before the first step, and the run writes the bytes of one that made it.
  std::vector<KnownBase> bases;
  SharedTokens* tokens = nullptr;  // token ids that runs of this process share; null: none
  // The run's model is that of the best validation after at least one step, also where the base
  // model was better; without it a run in which no step was better keeps the base.
  bool trained_model = false;
  std::vector<LoopObserver*> observers;  // further ones, which must outlive the run
};

// Trains and writes the run folder (docs/training.md). Reads everything before it writes anything.
// Tensor operations run on the threads that the program has set
// (tensor/machine/process.h). Throws the errors of its parts. Throws UsageError if the output is
// missing, if there is a run already, if another process trains in the folder, or if memory surely
// has too little room; RecipeError if the recipe of a resumed run differs in a key that may not
// change (train/checks/extension.h); DataError if its data differ; Interrupted after saving.
// Returns the profile of the steps in the format that the options ask for.
std::string RunTraining(config::LoadedRecipe recipe, const RunOptions& options);

// `tandem train --check`: reads everything and trains nothing. The report has counts, lengths and
// truncated texts, and estimates of memory and time from one timed step, whose gradients are thrown
// away. Throws as RunTraining if memory or disk have too little room, unless `ignore_limits`.
std::string CheckTraining(config::LoadedRecipe recipe, bool ignore_limits = false);

// `tandem train --profile-steps`: makes one step to warm up and `steps` more, without validating or
// saving; returns the profile of these `steps`. Throws Interrupted if `stop` asks for it. In a
// group of processes, the profile is that of this process.
std::string ProfileTraining(config::LoadedRecipe recipe, int64_t steps, std::string_view format,
                            const report::TextStyle& style, const StopRequest& stop,
                            dist::ProcessGroup* group = nullptr);

}  // namespace tandem::train
