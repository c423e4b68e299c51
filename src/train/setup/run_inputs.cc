#include "train/setup/run_inputs.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "model/fingerprint.h"
#include "objective/common_params.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/read_sources.h"
#include "train/mining/mining_memory.h"
#include "train/objective/training_objective.h"
#include "train/seconds_since.h"
#include "train/setup/resolve_objective.h"
#include "train/setup/run_model.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;
using ModelPointer = std::unique_ptr<model::DualEncoder>;

void StopIfAsked(const StopRequest& stop) {
  const int signal = StopSignal(stop);
  if (signal != 0) throw Interrupted(signal, "interrupted before the first step");
}

// Gives the model the query prompt of the training data, so that it is saved with that prompt.
// Throws RecipeError if the recipe gives another prompt.
void UsePromptOfData(config::LoadedRecipe& loaded, const std::string& prompt, ModelPointer& model) {
  if (prompt.empty()) return;
  const std::string_view where =
      loaded.recipe.data.sources.empty() ? "data.train" : "all data sets";
  config::ModelRecipe& recipe = loaded.recipe.model;
  if (recipe.query_prompt && *recipe.query_prompt != prompt) {
    throw loaded.ErrorAt("model.query_prompt",
                         fmt::format("is \"{}\", but the queries of {} have the prompt "
                                     "\"{}\"; give the same one, or leave it out",
                                     *recipe.query_prompt, where, prompt));
  }
  recipe.query_prompt = prompt;
  if (model->prompt(model::TextKind::kQuery) == prompt) return;
  Note(fmt::format("the query prompt is that of {}, \"{}\"", where,
                   weights::PromptOnOneLine(prompt)));
  model.reset();  // so that there are never two models in memory
  model = LoadRunModel(loaded);
}

// Sets the dimensions, task prompts and similarity that the model is saved with. From here on it is
// also validated with the similarity that it is trained with.
void UseRecipe(const config::LoadedRecipe& loaded, model::DualEncoder& model) {
  const config::Recipe& recipe = loaded.recipe;
  UseDimensions(
      loaded, objective::WidthsOf(recipe.model.dimensions, recipe.model.dimension_weights), model);
  model.set_task_prompts(TaskPrompts(loaded));
  model.set_similarity(
      objective::SimilarityOf(recipe.objective.params, objective::kSimilarityWithoutModel));
}

// Writes the values that the model decides into the recipe.
void ResolveByModel(const model::DualEncoder& model, config::ModelRecipe& recipe) {
  recipe.max_query_tokens = static_cast<int64_t>(model.max_tokens(model::TextKind::kQuery));
  recipe.max_document_tokens = static_cast<int64_t>(model.max_tokens(model::TextKind::kDocument));
  recipe.query_prompt = model.prompt(model::TextKind::kQuery);
  recipe.document_prompt = model.prompt(model::TextKind::kDocument);
}

// Reads model and data, which decide the rest of the recipe together.
void ReadModelAndData(RunInputs& inputs, const StopRequest& stop) {
  config::LoadedRecipe& loaded = inputs.run.loaded;
  inputs.model = LoadRunModel(loaded);
  for (const std::string& note : ResolveObjective(loaded, *inputs.model)) Note(note);
  inputs.needs = NeedsOf(loaded.recipe.objective);
  const Clock::time_point start = Clock::now();
  inputs.data = ReadRunData(loaded, inputs.needs);
  inputs.seconds.reading = SecondsSince(start);
  StopIfAsked(stop);
  UsePromptOfData(loaded, inputs.data.query_prompt, inputs.model);
  UseRecipe(loaded, *inputs.model);
  inputs.extra = ResolveNegatives(loaded, inputs.data.set, inputs.data.training, inputs.needs);
  ResolveByModel(*inputs.model, loaded.recipe.model);
}

// Makes the token ids of the run's texts with the model's tokenizer.
ExampleTexts Tokenised(const RunInputs& inputs, SharedTokens* shared) {
  std::span<const uint32_t> mined;
  if (inputs.mining) mined = inputs.mining->document_of;
  return MakeExampleTexts(inputs.data.set, inputs.data.set.positive_grade, inputs.data.training,
                          *inputs.model, inputs.prompts, inputs.run.threads, mined, shared);
}

// The fingerprint of the base model depends on its parameters, on its settings and, through the
// token ids of the run's texts, on its tokenizer.
InputFingerprints FingerprintsOf(const RunInputs& inputs) {
  RunningHash base;
  base.Add(model::Fingerprint(*inputs.model));
  base.Add(inputs.texts.queries.hash());
  base.Add(inputs.texts.documents.hash());
  InputFingerprints fingerprints{.data = inputs.data.fingerprint, .base = base.value()};
  if (inputs.recipe().model.adapter) {
    fingerprints.adapter = model::AdapterFingerprint(*inputs.model);
  }
  return fingerprints;
}

}  // namespace

RunInputs ReadInputs(ResolvedRun run, const StopRequest& stop, SharedTokens* shared) {
  RunInputs inputs;
  inputs.run = std::move(run);
  ReadModelAndData(inputs, stop);
  inputs.prompts = TrainingPrompts(inputs.data, *inputs.model);
  inputs.sources = SourcesOf(inputs.data);
  if (inputs.recipe().mining.enabled()) {
    inputs.mining = MakeRunMiningTask(inputs.run.loaded, inputs.data);
    CheckMiningMemory(inputs.run, *inputs.mining, inputs.model->embedding_width());
  }
  const Clock::time_point start = Clock::now();
  inputs.texts = Tokenised(inputs, shared);
  inputs.seconds.tokenising = SecondsSince(start);
  StopIfAsked(stop);
  inputs.fingerprints = FingerprintsOf(inputs);
  inputs.model->To(inputs.run.device);
  inputs.figures = MakeBatchFigures(inputs.recipe(), inputs.texts,
                                    TasksOf(inputs.data, inputs.recipe(), inputs.data.training));
  CheckTasks(inputs.run.loaded, inputs.texts, inputs.figures, inputs.needs);
  return inputs;
}

}  // namespace tandem::train
