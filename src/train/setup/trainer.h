// The third stage of a run's setup: the objects that make its steps, from its inputs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  // False for `train --check`: texts are not encoded to compute the sampler's scores. If the cache
  // lacks their embeddings, the sampler uses random scores, and nothing must be trained with it.
  bool encode = true;
  // The processes that train together; null, or a group of one: this process trains alone. All must
  // have the same recipe, data, base model, program and instruction sets; an error names what
  // differs.
  dist::ProcessGroup* group = nullptr;
  std::string version;             // the program's version
  SharedTokens* tokens = nullptr;  // token ids that runs of this process share; null: none
};

// Each member is made from the inputs and from the members before it. Members that are not const
// have states that a run changes and a checkpoint keeps.
struct Trainer {
  // Throws RecipeError if the sampler's parameters do not fit the data, and as
  // train/setup/trainer_checks.h does; Interrupted if `options.stop` asks for it.
  Trainer(RunInputs read, const TrainerOptions& options);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  const RunInputs inputs;
  const TrainingObjective objective;
  const std::unique_ptr<const Step> step;
  const BatchMaker batches;
  const std::unique_ptr<NegativeMiner> miner;  // null: no mining
  // Set if texts are not encoded and the sampler needs scores.
  const std::optional<PairScoreWork> scoring;
  // The scores [pairs] by which the sampler begins; empty where it needs none.
  const std::vector<float> first_scores;
  const std::unique_ptr<sampling::Sampler> sampler;
  ObjectiveStates states;
  const std::unique_ptr<optim::Optimizer> optimizer;            // of the model's parameters
  const std::unique_ptr<optim::Optimizer> objective_optimizer;  // of the objective's parameters
  const optim::Schedule schedule;
  const std::unique_ptr<dist::GradientReducer> reducer;  // null: this process trains alone
  const std::unique_ptr<Validator> validator;            // null: no validation

  const config::Recipe& recipe() const { return inputs.run.loaded.recipe; }
  model::DualEncoder& model() const { return *inputs.model; }
  dist::ProcessGroup* group() const { return inputs.run.group; }

 private:
  Trainer(SamplerScores scores, RunInputs&& read);
};

// A trainer and the plan of its run.
struct PlannedTrainer {
  std::unique_ptr<Trainer> trainer;
  RunPlan plan;
};

// Goes through all stages and notes what it found. Nothing but the cache is written before a run.
// Throws the errors of the stages.
PlannedTrainer MakeTrainer(config::LoadedRecipe loaded, const TrainerOptions& options = {});

// Make the parts of a loop from a trainer, with an updater for its plan.
Updater MakeUpdater(const Trainer& trainer, const RunPlan& plan);
LoopParts PartsOf(Trainer& trainer, Updater& updater);
LoopOptions LoopOptionsOf(const Trainer& trainer, const RunPlan& plan);

}  // namespace tandem::train
