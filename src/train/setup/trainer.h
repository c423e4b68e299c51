// The third stage of a run: what makes its steps, from its inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/process/interrupt.h"
#include "dist/gradient_reducer.h"
#include "optim/optimizer.h"
#include "sampling/sampler.h"
#include "train/mining/negative_miner.h"
#include "train/run/loop.h"
#include "train/scoring/sampler_scores.h"
#include "train/setup/plan.h"
#include "train/setup/run_inputs.h"
#include "train/step/step.h"
#include "train/validation/validator.h"

namespace tandem::train {

struct TrainerOptions {
  StopRequest stop;  // asked between parts, and between blocks of texts that are encoded
  // False (`train --check`): texts are not encoded for the sampler's scores. Where the cache has
  // not their embeddings, the sampler goes by random scores, and nothing must be trained by it.
  bool encode = true;
  // The processes that train together; null, or a group of one: this one alone. All must have the
  // same recipe, data, base, program and instruction sets: an error names what differs.
  dist::ProcessGroup* group = nullptr;
  std::string version;  // of the program
};

// Each member is made from the inputs and from the members before it. What is not const has a state
// that a run changes, and that a checkpoint keeps.
struct Trainer {
  // Throws RecipeError where the sampler's parameters do not fit the data, and as
  // train/setup/trainer_checks.h; Interrupted where `options.stop` asks for it.
  Trainer(RunInputs read, const TrainerOptions& options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  const RunInputs inputs;
  const TrainingObjective objective;
  const std::unique_ptr<const Step> step;
  const BatchMaker batches;
  const std::unique_ptr<NegativeMiner> miner;  // null: nothing is mined
  // Where nothing encodes and the sampler asks for scores.
  const std::optional<PairScoreWork> scoring;
  const std::unique_ptr<sampling::Sampler> sampler;
  ObjectiveStates states;
  const std::unique_ptr<optim::Optimizer> optimizer;            // of the model
  const std::unique_ptr<optim::Optimizer> objective_optimizer;  // of what the objective learns
  const optim::Schedule schedule;
  const std::unique_ptr<dist::GradientReducer> reducer;  // of a group; null: this process alone
  const std::unique_ptr<Validator> validator;            // null: none

  const config::Recipe& recipe() const { return inputs.run.loaded.recipe; }
  model::DualEncoder& model() const { return *inputs.model; }
  dist::ProcessGroup* group() const { return inputs.run.group; }

 private:
  Trainer(SamplerScores scores, RunInputs&& read);
};

// A trainer and how long it trains.
struct PlannedTrainer {
  std::unique_ptr<Trainer> trainer;
  RunPlan plan;
};

// Goes through all stages, before anything is written but the cache, and notes what it found.
// Throws what they throw.
PlannedTrainer MakeTrainer(config::LoadedRecipe loaded, const TrainerOptions& options = {});

// What a loop takes of a trainer, with an updater for its plan.
Updater MakeUpdater(const Trainer& trainer, const RunPlan& plan);
LoopParts PartsOf(Trainer& trainer, Updater& updater);
LoopOptions LoopOptionsOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
