// One trial: a run of `tandem train` in a folder of the search, taken to one length after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/process/interrupt.h"
#include "config/tune/tune_recipe.h"
#include "dist/process_group.h"
#include "train/inputs/token_store.h"
#include "train/validation/known_base.h"
#include "tune/search_folder.h"

namespace tandem::tune {

struct TrialOptions {
  int64_t trial = 1;
  double share = 1;  // of the run's length, to which it is trained; 1: to its end
  std::string version;
  StopRequest stop;
  dist::ProcessGroup* group = nullptr;
  bool ignore_limits = false;
  std::vector<train::KnownBase> bases;    // validations of the base that need not be made again
  train::SharedTokens* tokens = nullptr;  // of all trials
};

// The values that a trial's recipe has besides those of its configuration: how often it validates,
// so that its lengths end at validations. Of one length there are none.
config::Assignment RungKeys(int64_t rungs);

// The recipe of a configuration, as the trial's recipe.toml has it; `values` loses keys that do
// nothing (config::MakeTrialRecipe).
config::LoadedRecipe TrialRecipe(const config::LoadedTune& tune, const SearchFolder& folder,
                                 int64_t trial, config::Assignment values);

// Writes the trial's recipe, begins its run or goes on with it, and keeps the values of each
// validation's queries. Schedule, warm-up and decay are those of the run's whole length, to which
// it is trained or not. Throws as train::RunTraining.
void TrainTrial(const config::LoadedRecipe& recipe, const SearchFolder& folder,
                const TrialOptions& options);

// What the trial has come to so far, as rank 0 reads its logs: "step", the last validated one,
// "best_step", that of the best validation after a step of training, its "value", and "finished".
Json TrialState(const SearchFolder& folder, int64_t trial);

}  // namespace tandem::tune
