// The first stage of a run: what its recipe and this machine decide. Nothing is read yet.
//
// A run is set up in stages, each a value made from the one before and from nothing else:
// ResolvedRun, RunInputs (train/setup/run_inputs.h), Trainer (train/setup/trainer.h).
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "config/recipe/recipe_parse.h"
#include "dist/process_group.h"
#include "tensor/machine/precision.h"

namespace tandem::train {

struct ResolvedRun {
  // The recipe as it is run: its learning rate, threads, device and precision are this run's.
  config::LoadedRecipe loaded;
  std::string learning_rate_note;  // "" where the rate is as it was given
  int threads = 1;
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  tensor::Precision precision = tensor::Precision::kFp32;
  dist::ProcessGroup* group = nullptr;  // that trains together; null: this process alone

  const config::Recipe& recipe() const { return loaded.recipe; }
};

// Checks the recipe (train/setup/recipe_checks.h) and applies device and precision to the process.
// A group of one counts as none.
ResolvedRun ResolveRun(config::LoadedRecipe loaded, dist::ProcessGroup* group);

}  // namespace tandem::train
