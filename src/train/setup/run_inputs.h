// The second stage of a run's setup: the model that it starts from, its data, and the token ids of
// the data's texts.
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
  double reading = 0;     // reading the data and hashing them
  double tokenising = 0;  // tokenising the texts that the run trains on
};

// Nothing of it changes once it is read, except for the model's weights.
struct RunInputs {
  // Its recipe also has the values that model and data decided: the objective's similarity, scale
  // and bias, text lengths, prompts, negatives.
  ResolvedRun run;
  objective::Needs needs;  // needs of the recipe's objective
  // The model, on the run's device. It compares embeddings by the similarity that it is trained
  // with, and is saved so.
  std::unique_ptr<model::DualEncoder> model;
  RunData data;
  RunPrompts prompts;                        // prompts of the texts of data.set
  std::vector<uint32_t> sources;             // source of each training query
  ExtraCounts extra;                         // counts by which `data.negatives` was decided
  std::optional<search::MiningTask> mining;  // what may be mined; none: no mining
  ExampleTexts texts;
  BatchFigures figures;
  InputFingerprints fingerprints;
  InputSeconds seconds;

  const config::Recipe& recipe() const { return run.loaded.recipe; }
};

// Reads model and data and makes the token ids, or takes those that `shared` has (null: none); each
// process of a group does this by itself. Asks `stop` between these parts and then throws
// Interrupted, with nothing written. Throws the errors of LoadRunModel, ReadRunData and the checks
// of train/setup and train/mining.
RunInputs ReadInputs(ResolvedRun run, const StopRequest& stop, SharedTokens* shared = nullptr);

}  // namespace tandem::train
