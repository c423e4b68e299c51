#include "train/setup/setup.h"

#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/log.h"
#include "base/process/threads.h"
#include "config/catalogue.h"
#include "model/fingerprint.h"
#include "objective/catalogue.h"
#include "tensor/machine/device.h"
#include "train/checks/bank_memory.h"
#include "train/checks/empty_batches.h"
#include "train/checks/same_setup.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/read_sources.h"
#include "train/inputs/run_mixture.h"
#include "train/mining/mining_keys.h"
#include "train/scoring/sampler_scores.h"
#include "train/setup/learning_rate.h"
#include "train/setup/resolve_objective.h"
#include "train/setup/run_model.h"
#include "train/setup/setup_notes.h"
#include "train/setup/training_options.h"
#include "train/validation/run_validation.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string_view TrainingName(const Setup& setup) {
  return setup.recipe().data.sources.empty() ? "data.train" : "all data sets";
}

// The model gets the query prompt of the training data, so that it is saved with it. Throws
// RecipeError where the recipe gives another prompt.
void UsePromptOfData(Setup& setup) {
  const std::string& prompt = setup.data.query_prompt;
  if (prompt.empty()) return;
  config::ModelRecipe& recipe = setup.loaded.recipe.model;
  if (recipe.query_prompt && *recipe.query_prompt != prompt) {
    throw setup.loaded.ErrorAt("model.query_prompt",
                               fmt::format("is \"{}\", but the queries of {} have the prompt "
                                           "\"{}\"; give the same one, or leave it out",
                                           *recipe.query_prompt, TrainingName(setup), prompt));
  }
  recipe.query_prompt = prompt;
  if (setup.model->prompt(model::TextKind::kQuery) == prompt) return;
  Note(fmt::format("the query prompt is that of {}, \"{}\"", TrainingName(setup),
                   weights::PromptOnOneLine(prompt)));
  setup.model.reset();  // so that there are never two models in memory
  setup.model = LoadRunModel(setup.loaded);
}

// Writes what the machine and the model decided into the recipe.
void Resolve(Setup& setup) {
  config::Recipe& recipe = setup.loaded.recipe;
  recipe.threads = setup.threads;
  // Without its number: the processes of a job have devices of their own.
  recipe.device = setup.device.is_cpu() ? "cpu" : "cuda";
  recipe.precision = tensor::PrecisionName(setup.precision);
  const model::DualEncoder& model = *setup.model;
  recipe.model.max_query_tokens = static_cast<int64_t>(model.max_tokens(model::TextKind::kQuery));
  recipe.model.max_document_tokens =
      static_cast<int64_t>(model.max_tokens(model::TextKind::kDocument));
  recipe.model.query_prompt = model.prompt(model::TextKind::kQuery);
  recipe.model.document_prompt = model.prompt(model::TextKind::kDocument);
}

// Throws RecipeError where the first batch has no negative, so that nothing could be learned: it
// has one query, its queries are all the same, or masks leave none. Documents at random stand for
// those that the run will mine before it makes this batch.
void CheckFirstBatch(const Setup& setup) {
  const sampling::SamplerState state = setup.sampler->State();
  if (setup.miner != nullptr) setup.sampler->set_mined(setup.miner->StandIn());
  const sampling::Batch batch = setup.sampler->Next();
  setup.sampler->Restore(state);
  if (!IsEmpty(setup, batch)) return;
  throw setup.loaded.ErrorAt(
      setup.recipe().train.batch ? "train.batch" : "train.batch_tokens",
      fmt::format(
          "makes a first batch of {} queries and {} documents without any allowed negative; "
          "raise it, give data.negatives, or look at data.masks and at queries that share "
          "their documents",
          batch.rows(), batch.columns()));
}

// Throws RecipeError where a batch has not a query for each process of the group.
void CheckRanks(const Setup& setup) {
  const uint64_t queries = LargestBatch(setup);
  const auto ranks = static_cast<uint64_t>(setup.group->ranks());
  if (queries >= ranks) return;
  throw setup.loaded.ErrorAt(
      setup.recipe().train.batch ? "train.batch" : "train.batch_tokens",
      fmt::format(
          "makes batches of {} queries, which {} processes cannot share; raise it, or start "
          "at most {} processes",
          queries, ranks, queries));
}

// Changes with the model's parameters, with its settings, and, through the token ids of the run's
// texts, with its tokenizer.
uint64_t BaseFingerprint(const Setup& setup) {
  RunningHash fingerprint;
  fingerprint.Add(model::Fingerprint(*setup.model));
  fingerprint.Add(setup.texts.queries.hash());
  fingerprint.Add(setup.texts.documents.hash());
  return fingerprint.value();
}

// The catalogue's entry; parsing has checked the name.
template <typename Info>
const Info& Entry(std::span<const Info* const> catalogue, const std::string& name) {
  const Info* info = config::FindEntry(catalogue, name);
  if (info == nullptr) {
    throw UsageError(config::UnknownName(name, config::EntryNames(catalogue)));
  }
  return *info;
}

std::unique_ptr<optim::Optimizer> MakeOptimizer(const Setup& setup,
                                                std::vector<model::NamedParameter> parameters) {
  const config::OptimizerRecipe& recipe = setup.recipe().optimizer;
  return std::make_unique<optim::Optimizer>(Entry(optim::Optimizers(), recipe.name),
                                            std::move(parameters), recipe.params);
}

// Throws RecipeError where the sampler's parameters do not fit the data.
std::unique_ptr<sampling::Sampler> MakeSampler(Setup& setup, const SetupOptions& how) {
  const config::Recipe& recipe = setup.recipe();
  const sampling::SamplerInfo& info = Entry(sampling::Samplers(), recipe.sampling.name);
  const sampling::ScoreNeeds needs = info.NeedsScores(recipe.sampling.params);
  const PairScores scores =
      how.encode ? ScoreForSampling(setup, needs, how.stop) : FindScores(setup, needs);
  sampling::SamplerOptions options = SamplerOptionsOf(recipe, setup.objective.needs);
  options.scores = {.cosines = scores.cosines, .consistencies = scores.reciprocal_ranks};
  setup.figures.AddTo(options);
  SetMixture(setup.recipe().data, setup.sources, options);
  try {
    return info.make(setup.texts.examples, options);
  } catch (const sampling::OrderProblem& problem) {
    throw setup.loaded.ErrorAt(fmt::format("sampling.{}", problem.key()), problem.what());
  } catch (const sampling::DrawTooLong& problem) {
    throw TooLongError(setup.loaded, problem.longest(), setup.texts, setup.data.set);
  }
}

// Where nobody gave a bias that the objective learns, the run's first batch says where it starts.
// It is looked at as the first step will see it, dropout included, but for mined documents, and
// stays the first batch.
void StartOpenBias(Setup& setup) {
  if (!setup.states.bias_is_open()) return;
  const sampling::SamplerState state = setup.sampler->State();
  const TrainingBatch batch = setup.batches->Make(setup.sampler->Next());
  setup.sampler->Restore(state);
  const at::Tensor bias =
      at::full({1},
               setup.step->StartingBias(*setup.model, batch, setup.objective, setup.states,
                                        {.precision = setup.precision,
                                         .training = true,
                                         .seed = static_cast<uint64_t>(setup.recipe().seed)}),
               at::kDouble);
  if (setup.group != nullptr) setup.group->Broadcast(bias);  // processors may round differently
  setup.states.StartBias(bias.item<double>());
}

void MakeObjective(Setup& setup) {
  for (const std::string& note : ResolveObjective(setup.loaded, *setup.model)) Note(note);
  const config::Recipe& recipe = setup.recipe();
  setup.objective = MakeTrainingObjective(recipe);
  setup.step = MakeStep(recipe.train.chunk_tokens, setup.group);
  setup.states = StartingStates(recipe.objective);
}

void StopIfAsked(const StopRequest& stop) {
  const int signal = StopSignal(stop);
  if (signal != 0) throw Interrupted(signal, "interrupted before the first step");
}

void MakeMiner(Setup& setup) {
  if (!setup.recipe().mining.enabled()) return;
  setup.miner = std::make_unique<NegativeMiner>(setup.loaded, setup.data.set, setup.data.training,
                                                MinerOptions{.precision = setup.precision,
                                                             .threads = setup.threads,
                                                             .prompts = setup.prompts,
                                                             .group = setup.group});
  setup.miner->CheckMemory(setup.model->embedding_width());
}

void Tokenise(Setup& setup) {
  const Clock::time_point start = Clock::now();
  setup.texts =
      MakeExampleTexts(setup.data.set, setup.data.set.positive_grade, setup.data.training,
                       *setup.model, setup.prompts, setup.threads,
                       setup.miner ? setup.miner->documents() : std::span<const uint32_t>());
  setup.tokenise_seconds = SecondsSince(start);
  if (setup.miner) setup.miner->set_examples(setup.texts.examples);
}

void PlanUpdates(Setup& setup) {
  const config::Recipe& recipe = setup.recipe();
  setup.optimizer = MakeOptimizer(setup, model::TrainedOf(setup.model->Parameters()));
  setup.objective_optimizer = MakeOptimizer(setup, setup.states.Learned());
  setup.schedule = std::make_unique<optim::Schedule>(
      Entry(optim::Schedules(), recipe.schedule.name), recipe.schedule.params);
  setup.plan = MakePlan(recipe, *setup.sampler);
  SetSteps(setup, setup.plan.steps);
  if (setup.group == nullptr) return;
  // What the objective learns comes first, so that it is reduced last: its gradient is there before
  // the last pass, whose buckets must not wait for it.
  std::vector<model::NamedParameter> trained = setup.objective_optimizer->parameters();
  for (const model::NamedParameter& of_model : setup.optimizer->parameters()) {
    trained.push_back(of_model);
  }
  setup.reducer = std::make_unique<dist::GradientReducer>(
      *setup.group, std::move(trained),
      dist::ReducerOptions{.type = recipe.train.reduce == "bf16" ? dist::ReduceType::kBf16
                                                                 : dist::ReduceType::kFp32});
}

// Model, data and token ids: what each process of a group reads by itself.
void ReadAll(std::unique_ptr<Setup>& setup, config::LoadedRecipe loaded,
             const SetupOptions& options) {
  CheckValidation(loaded);
  setup->learning_rate_note = ResolveLearningRate(loaded);
  setup->loaded = std::move(loaded);
  const config::Recipe& recipe = setup->recipe();
  CheckBankFits(setup->loaded);
  const objective::Needs needs = NeedsOf(recipe.objective);
  CheckLabelKeys(setup->loaded, needs);
  if (recipe.mining.enabled()) CheckMiningKeys(setup->loaded, needs);
  setup->threads = recipe.threads > 0 ? static_cast<int>(recipe.threads) : UsableThreads();
  setup->device = tensor::UseDevice(recipe.device);
  setup->precision = tensor::ResolveTrainingPrecision(recipe.precision, setup->device);
  tensor::ApplyPrecision(setup->precision);
  setup->model = LoadRunModel(setup->loaded);
  MakeObjective(*setup);
  const Clock::time_point start = Clock::now();
  setup->data = ReadRunData(setup->loaded, setup->objective.needs);
  setup->read_seconds = SecondsSince(start);
  StopIfAsked(options.stop);
  UsePromptOfData(*setup);
  UseDimensions(setup->loaded, setup->objective.widths, *setup->model);
  setup->model->set_task_prompts(TaskPrompts(setup->loaded));
  // From here on the model is validated and saved by the similarity that it is trained by.
  setup->model->set_similarity(setup->objective.similarity);
  setup->further = ResolveNegatives(setup->loaded, setup->data.set, setup->data.training,
                                    setup->objective.needs);
  Resolve(*setup);
  setup->prompts = TrainingPrompts(setup->data, *setup->model);
  setup->sources = SourcesOf(setup->data);
  MakeMiner(*setup);
  Tokenise(*setup);
  StopIfAsked(options.stop);
  setup->base_fingerprint = BaseFingerprint(*setup);
  if (recipe.model.adapter) setup->adapter_fingerprint = model::AdapterFingerprint(*setup->model);
  setup->model->To(setup->device);
  setup->batches =
      std::make_unique<BatchMaker>(setup->texts, MaskRulesOf(recipe), setup->objective.needs);
  setup->figures = MakeBatchFigures(setup->recipe(), setup->texts,
                                    TasksOf(setup->data, setup->recipe(), setup->data.training));
  CheckTasks(setup->loaded, setup->texts, setup->figures, setup->objective.needs);
}

}  // namespace

std::unique_ptr<Setup> MakeSetup(config::LoadedRecipe loaded, const SetupOptions& options) {
  auto setup = std::make_unique<Setup>();
  if (dist::IsShared(options.group)) {
    setup->group = options.group;
    setup->group->Agree([&] { ReadAll(setup, std::move(loaded), options); });
    setup->group->Agree([&] { CheckSameEverywhere(*setup, options.version); });
  } else {
    ReadAll(setup, std::move(loaded), options);
  }
  setup->sampler = MakeSampler(*setup, options);
  if (setup->group != nullptr) setup->group->Agree([&] { CheckRanks(*setup); });
  CheckFirstBatch(*setup);
  StartOpenBias(*setup);
  PlanUpdates(*setup);
  setup->validator = MakeValidator(*setup);
  NoteWhatIsTrained(*setup);
  return setup;
}

void SetSteps(Setup& setup, int64_t steps) {
  if (steps != setup.plan.steps) setup.plan.batches.reset();  // those of another length
  setup.plan.steps = steps;
  const config::OptimizerRecipe& recipe = setup.recipe().optimizer;
  setup.updater = std::make_unique<Updater>(
      *setup.optimizer, *setup.objective_optimizer, *setup.schedule,
      UpdateOptions{.learning_rate = recipe.learning_rate,
                    .clip = recipe.clip,
                    .warmup = setup.plan.warmup,
                    .steps = steps,
                    .by_progress = setup.plan.by_progress,
                    .objective_factor = setup.states.learning_rate_factor(),
                    .loss_scale = {.on = setup.precision == tensor::Precision::kFp16}});
}

LoopParts PartsOf(Setup& setup) {
  return {.model = *setup.model,
          .objective = setup.objective,
          .states = setup.states,
          .batches = *setup.batches,
          .sampler = *setup.sampler,
          .updater = *setup.updater,
          .step = *setup.step,
          .miner = setup.miner.get(),
          .group = setup.group,
          .reducer = setup.reducer.get()};
}

LoopOptions LoopOptionsOf(const Setup& setup) {
  const config::Recipe& recipe = setup.recipe();
  return {.steps = setup.plan.steps,
          .epochs = setup.plan.by_progress ? recipe.train.epochs : std::nullopt,
          .batch = recipe.train.batch.value_or(static_cast<int64_t>(LargestBatch(setup))),
          .accumulate = recipe.train.accumulate,
          .batches = setup.plan.batches,
          .chunk_tokens = recipe.train.chunk_tokens,
          .seed = static_cast<uint64_t>(recipe.seed),
          .precision = setup.precision,
          .device = setup.device,
          .mining = setup.plan.mining};
}

}  // namespace tandem::train
