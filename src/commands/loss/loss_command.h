// The options of `tandem loss`, shared by its flags and its work.
#pragma once

#include <string>

#include "cli/globals.h"

namespace tandem::app {

struct LossOptions {
  Globals globals;
  std::string cases;              // JSON file, as docs/cli/loss.md describes
  std::string dtype = "float64";  // of the embeddings and their gradients
  bool check = false;             // compare with the expected values instead of printing
  std::string format = "text";    // of the table that `check` prints
};

// Does the work, in loss_run.cc.
void RunLoss(const LossOptions& options);

}  // namespace tandem::app
