#include "train/setup/trainer.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "train/checks/agree_on_run.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/run_mixture.h"
#include "train/setup/trainer_checks.h"
#include "train/setup/trainer_notes.h"
#include "train/validation/run_validation.h"

namespace tandem::train {
namespace {

// Returns the entry of a catalogue; parsing has checked the name.
template <typename Info>
const Info& Entry(std::span<const Info* const> catalogue, const std::string& name) {
  const Info* info = config::FindEntry(catalogue, name);
  if (info == nullptr) {
    throw UsageError(config::UnknownName(name, config::EntryNames(catalogue)));
  }
  return *info;
}

const sampling::SamplerInfo& SamplerOf(const config::Recipe& recipe) {
  return Entry(sampling::Samplers(), recipe.sampling.name);
}

SamplerScores ScoresOf(const RunInputs& inputs, const TrainerOptions& options) {
  const config::Recipe& recipe = inputs.recipe();
  const sampling::ScoreNeeds needs = SamplerOf(recipe).NeedsScores(recipe.sampling.params);
  return options.encode ? ScoreForSampling(inputs, needs, options.stop) : FindScores(inputs, needs);
}

// Throws RecipeError if the sampler's parameters do not fit the data.
std::unique_ptr<sampling::Sampler> MakeSampler(const RunInputs& inputs, const PairScores& scores) {
  const config::Recipe& recipe = inputs.recipe();
  const config::LoadedRecipe& loaded = inputs.run.loaded;
  sampling::SamplerOptions options = SamplerOptionsOf(recipe, inputs.needs);
  options.scores = {.cosines = scores.cosines, .consistencies = scores.reciprocal_ranks};
  inputs.figures.AddTo(options);
  SetMixture(recipe.data, inputs.sources, options);
  try {
    return SamplerOf(recipe).make(inputs.texts.examples, options);
  } catch (const sampling::OrderProblem& problem) {
    throw loaded.ErrorAt(fmt::format("sampling.{}", problem.key()), problem.what());
  } catch (const sampling::DrawTooLong& problem) {
    throw TooLongError(loaded, problem.longest(), inputs.texts, inputs.data.set);
  }
}

// Ranks are made only where the sampler goes by them.
std::vector<float> FirstScores(const PairScores& scores) {
  return scores.reciprocal_ranks.empty() ? scores.cosines : scores.reciprocal_ranks;
}

// Makes the sampler and checks its first batch.
std::unique_ptr<sampling::Sampler> MakeCheckedSampler(const RunInputs& inputs,
                                                      const BatchMaker& batches,
                                                      const NegativeMiner* miner,
                                                      const PairScores& scores) {
  std::unique_ptr<sampling::Sampler> sampler = MakeSampler(inputs, scores);
  if (dist::ProcessGroup* group = inputs.run.group) {
    group->Agree([&] { CheckRanks(inputs.run, *sampler); });
  }
  CheckFirstBatch(inputs.run.loaded, batches, miner, *sampler);
  return sampler;
}

// Returns the states that the objective starts with. If neither the recipe nor the model gives a
// bias that the objective learns, it is computed from the run's first batch. The model encodes the
// batch as in the first step, with dropout, but with no mined documents. The sampler will return
// the batch again as its first one. `trainer` must have everything but its states.
ObjectiveStates MakeStates(const Trainer& trainer) {
  const config::Recipe& recipe = trainer.recipe();
  ObjectiveStates states = StartingStates(recipe.objective);
  if (!states.bias_is_open()) return states;
  const sampling::SamplerState state = trainer.sampler->State();
  const TrainingBatch batch = trainer.batches.Make(trainer.sampler->Next());
  trainer.sampler->Restore(state);
  const tensor::Tensor bias =
      tensor::Full({1},
                   trainer.step->StartingBias(trainer.model(), batch, trainer.objective, states,
                                              {.precision = trainer.inputs.run.precision,
                                               .training = true,
                                               .seed = static_cast<uint64_t>(recipe.seed)}),
                   tensor::kDouble);
  // Processors may round differently, so all processes take the bias of rank 0.
  if (trainer.group() != nullptr) trainer.group()->Broadcast(bias);
  states.StartBias(bias.item<double>());
  return states;
}

std::unique_ptr<optim::Optimizer> MakeOptimizer(const config::OptimizerRecipe& recipe,
                                                std::vector<model::NamedParameter> parameters) {
  return std::make_unique<optim::Optimizer>(Entry(optim::Optimizers(), recipe.name),
                                            std::move(parameters), recipe.params);
}

// The objective's parameters come first, so that they are reduced last. Their gradient is complete
// before the last backward pass, whose buckets must not wait for it.
std::unique_ptr<dist::GradientReducer> MakeReducer(const Trainer& trainer) {
  if (trainer.group() == nullptr) return nullptr;
  std::vector<model::NamedParameter> trained = trainer.objective_optimizer->parameters();
  for (const model::NamedParameter& of_model : trainer.optimizer->parameters()) {
    trained.push_back(of_model);
  }
  const bool bf16 = trainer.recipe().train.reduce == "bf16";
  return std::make_unique<dist::GradientReducer>(
      *trainer.group(), std::move(trained),
      dist::ReducerOptions{.type = bf16 ? dist::ReduceType::kBf16 : dist::ReduceType::kFp32});
}

// Each process of a group reads its inputs by itself, and then compares them with those of the
// others.
RunInputs ReadAgreedInputs(config::LoadedRecipe loaded, const TrainerOptions& options) {
  const auto read = [&] {
    return ReadInputs(ResolveRun(std::move(loaded), options.group), options.stop, options.tokens);
  };
  if (!dist::IsShared(options.group)) return read();
  std::optional<RunInputs> inputs;
  options.group->Agree([&] { inputs = read(); });
  options.group->Agree([&] { AgreeOnRun(*inputs, options.version); });
  return std::move(*inputs);
}

}  // namespace

Trainer::Trainer(RunInputs read, const TrainerOptions& options)
    : Trainer(ScoresOf(read, options), std::move(read)) {}

Trainer::Trainer(SamplerScores scores, RunInputs&& read)
    : inputs(std::move(read)),
      objective(MakeTrainingObjective(recipe())),
      step(MakeStep(recipe().train.chunk_tokens, group())),
      batches(inputs.texts, MaskRulesOf(recipe()), objective.needs),
      miner(inputs.mining ? std::make_unique<NegativeMiner>(inputs) : nullptr),
      scoring(scores.work),
      first_scores(FirstScores(scores.scores)),
      sampler(MakeCheckedSampler(inputs, batches, miner.get(), scores.scores)),
      states(MakeStates(*this)),
      optimizer(MakeOptimizer(recipe().optimizer, model::TrainedOf(model().Parameters()))),
      objective_optimizer(MakeOptimizer(recipe().optimizer, states.Learned())),
      schedule(Entry(optim::Schedules(), recipe().schedule.name), recipe().schedule.params),
      reducer(MakeReducer(*this)),
      validator(MakeValidator(inputs, objective)) {}

PlannedTrainer MakeTrainer(config::LoadedRecipe loaded, const TrainerOptions& options) {
  auto trainer = std::make_unique<Trainer>(ReadAgreedInputs(std::move(loaded), options), options);
  const RunPlan plan = MakePlan(trainer->recipe(), *trainer->sampler);
  NoteWhatIsTrained(*trainer, plan);
  return {std::move(trainer), plan};
}

Updater MakeUpdater(const Trainer& trainer, const RunPlan& plan) {
  const config::OptimizerRecipe& recipe = trainer.recipe().optimizer;
  const bool scales = trainer.inputs.run.precision == tensor::Precision::kFp16;
  return Updater(*trainer.optimizer, *trainer.objective_optimizer, trainer.schedule,
                 UpdateOptions{.learning_rate = recipe.learning_rate,
                               .clip = recipe.clip,
                               .warmup = plan.warmup,
                               .steps = plan.steps,
                               .by_progress = plan.by_progress,
                               .objective_factor = trainer.states.learning_rate_factor(),
                               .loss_scale = {.on = scales}});
}

LoopParts PartsOf(Trainer& trainer, Updater& updater) {
  return {.model = trainer.model(),
          .objective = trainer.objective,
          .states = trainer.states,
          .batches = trainer.batches,
          .sampler = *trainer.sampler,
          .updater = updater,
          .step = *trainer.step,
          .miner = trainer.miner.get(),
          .group = trainer.group(),
          .reducer = trainer.reducer.get()};
}

LoopOptions LoopOptionsOf(const Trainer& trainer, const RunPlan& plan) {
  const config::Recipe& recipe = trainer.recipe();
  const ResolvedRun& run = trainer.inputs.run;
  return {
      .steps = plan.steps,
      .epochs = plan.by_progress ? recipe.train.epochs : std::nullopt,
      .batch = recipe.train.batch.value_or(static_cast<int64_t>(LargestBatch(*trainer.sampler))),
      .accumulate = recipe.train.accumulate,
      .batches = plan.batches,
      .chunk_tokens = recipe.train.chunk_tokens,
      .seed = static_cast<uint64_t>(recipe.seed),
      .precision = run.precision,
      .device = run.device,
      .mining = plan.mining};
}

}  // namespace tandem::train
