// The second stage of a run: the model that it starts from, its data, and the token ids of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/interrupt.h"
#include "model/dual_encoder.h"
#include "objective/catalogue.h"
#include "search/mining/mining_task.h"
#include "train/inputs/batch_figures.h"
#include "train/inputs/extra_documents.h"
#include "train/inputs/input_fingerprints.h"
#include "train/inputs/run_data.h"
#include "train/inputs/run_prompts.h"
#include "train/setup/resolved_run.h"
#include "train/step/batch.h"

namespace tandem::train {

struct InputSeconds {
  double reading = 0;     // of the data, with their hashes
  double tokenising = 0;  // of the texts that the run trains on
};

// Nothing of it changes once it is read, but for the model's weights.
struct RunInputs {
  // Its recipe also has what model and data decided: the objective's similarity, scale and bias,
  // lengths, prompts, negatives.
  ResolvedRun run;
  objective::Needs needs;  // of the recipe's objective
  // On the run's device, compared by the similarity that it is trained by, and saved so.
  std::unique_ptr<model::DualEncoder> model;
  RunData data;
  RunPrompts prompts;                        // of data.set's texts
  std::vector<uint32_t> sources;             // of each training query
  ExtraCounts extra;                         // what `data.negatives` was decided by
  std::optional<search::MiningTask> mining;  // what may be mined; none: nothing is
  ExampleTexts texts;
  BatchFigures figures;
  InputFingerprints fingerprints;
  InputSeconds seconds;

  const config::Recipe& recipe() const { return run.loaded.recipe; }
};

// Reads model and data and makes the token ids: what each process of a group does by itself. `stop`
// is asked between its parts: throws Interrupted then, with nothing written. Throws what
// LoadRunModel, ReadRunData and the checks of train/setup and train/mining throw.
RunInputs ReadInputs(ResolvedRun run, const StopRequest& stop);

}  // namespace tandem::train
