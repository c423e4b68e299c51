// The first stage of a run's setup: the values that the recipe and this machine decide. Nothing is
// read yet.
//
// A run is set up in stages. Each is a value that is made only from the one before it: ResolvedRun,
// RunInputs (train/setup/run_inputs.h), Trainer (train/setup/trainer.h).
#pragma once

#include <string>

#include "config/recipe/recipe_parse.h"
#include "dist/process_group.h"
#include "tensor/core/device.h"
#include "tensor/machine/precision.h"

namespace tandem::train {

struct ResolvedRun {
  // The recipe as it is run, with the run's own learning rate, threads, device and precision.
  config::LoadedRecipe loaded;
  std::string learning_rate_note;  // "" if the rate is the one that was given
  std::string precision_note;      // which one "auto" is here, and why; "" if one was given
  int threads = 1;
  tensor::Device device = tensor::kCpuDevice;
  tensor::Precision precision = tensor::Precision::kFp32;
  dist::ProcessGroup* group = nullptr;  // trains together; null: this process trains alone

  const config::Recipe& recipe() const { return loaded.recipe; }
};

// Checks the recipe (train/setup/recipe_checks.h) and sets device and precision of the process. A
// group of one process counts as no group.
ResolvedRun ResolveRun(config::LoadedRecipe loaded, dist::ProcessGroup* group);

}  // namespace tandem::train
