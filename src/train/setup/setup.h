// Everything that a run consists of, made from a recipe before anything is written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/interrupt.h"
#include "config/recipe/recipe_parse.h"
#include "model/dual_encoder.h"
#include "optim/catalogue.h"
#include "optim/optimizer.h"
#include "sampling/catalogue.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/further_documents.h"
#include "train/inputs/run_data.h"
#include "train/inputs/run_prompts.h"
#include "train/mining/negative_miner.h"
#include "train/run/loop.h"
#include "train/scoring/base_scores.h"
#include "train/setup/batch_figures.h"
#include "train/setup/plan.h"
#include "train/step/step.h"
#include "train/validation/validator.h"

namespace tandem::train {

struct Setup {
  // Its recipe is resolved: learning rate, threads, device, precision, lengths, prompts, negatives.
  config::LoadedRecipe loaded;
  std::string learning_rate_note;  // "" where the rate is as it was given
  int threads = 1;
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  tensor::Precision precision = tensor::Precision::kFp32;
  std::unique_ptr<model::DualEncoder> model;
  TrainingObjective objective;
  ObjectiveStates states;
  RunData data;
  RunPrompts prompts;                    // of data.set's texts
  std::vector<uint32_t> sources;         // of each training query
  FurtherCounts further;                 // what `data.negatives` was decided by
  std::unique_ptr<NegativeMiner> miner;  // null: nothing is mined
  ExampleTexts texts;
  double read_seconds = 0;      // of the data, with their hashes
  double tokenise_seconds = 0;  // of the texts that the run trains on
  BatchFigures figures;
  uint64_t base_fingerprint = 0;     // of the model that training starts from, and of its tokens
  uint64_t adapter_fingerprint = 0;  // of the adapters of model.adapter; 0: there are none
  std::unique_ptr<BatchMaker> batches;
  std::unique_ptr<const Step> step;
  // Of a setup that does not encode, where the sampler asks for scores.
  std::optional<PairScoreWork> scoring;
  std::unique_ptr<sampling::Sampler> sampler;
  std::unique_ptr<optim::Optimizer> optimizer;            // of the model
  std::unique_ptr<optim::Optimizer> objective_optimizer;  // of what the objective learns
  std::unique_ptr<optim::Schedule> schedule;
  std::unique_ptr<Validator> validator;  // null: none
  RunPlan plan;
  std::unique_ptr<Updater> updater;
  dist::ProcessGroup* group = nullptr;             // that trains together; null: this one alone
  std::unique_ptr<dist::GradientReducer> reducer;  // of a group

  const config::Recipe& recipe() const { return loaded.recipe; }
};

struct SetupOptions {
  StopRequest stop;  // asked between parts, and between blocks of texts that are encoded
  // False (`train --check`): texts are not encoded for the sampler's scores. Where the cache has
  // not their embeddings, the sampler goes by random scores, and the setup must not be trained.
  bool encode = true;
  // The processes that train together; null, or a group of one: this one alone. All must have the
  // same recipe, data, base, program and instruction sets: an error names what differs.
  dist::ProcessGroup* group = nullptr;
  std::string version;  // of the program
};

// Checks the recipe, sets the number of threads, reads model and data, makes the token ids and the
// scores that the sampler asks for. An unknown measure is a RecipeError before anything is read.
// Reports counts in notes. Throws Interrupted, with nothing written but the cache.
std::unique_ptr<Setup> MakeSetup(config::LoadedRecipe loaded, const SetupOptions& options = {});

// Makes the run that long; the schedule follows.
void SetSteps(Setup& setup, int64_t steps);

// What a loop takes of it.
LoopParts PartsOf(Setup& setup);
LoopOptions LoopOptionsOf(const Setup& setup);

}  // namespace tandem::train
