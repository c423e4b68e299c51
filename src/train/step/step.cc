#include "train/step/step.h"

#include <ATen/core/grad_mode.h>

#include <utility>

#include "objective/common_params.h"
#include "tensor/profile/profile.h"
#include "train/step/encode_batch.h"
#include "train/step/judge.h"
#include "train/step/shared_step.h"

namespace tandem::train {
namespace {

StepOutcome CachedForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                  const TrainingObjective& objective, ObjectiveStates states,
                                  const StepOptions& options) {
  Prepare(model, options, tensor::Passes::kBoth);
  const at::Tensor embeddings = EncodeInChunks(model, batch, options).requires_grad_(true);
  TrainingLoss loss = JudgeForTraining(embeddings, batch, objective, std::move(states), options);
  BackPropagate(loss.value);
  const at::Tensor gradient = embeddings.grad();
  ForEachChunk(model, batch, options.chunk_tokens, [&](int64_t begin, int64_t end) {
    BackPropagate(EncodeRange(model, batch, begin, end, options.forward),
                  gradient.narrow(0, begin, end - begin));
  });
  return std::move(loss.outcome);
}

at::Tensor EncodeWithoutGradient(model::DualEncoder& model, const TrainingBatch& batch,
                                 const StepOptions& options) {
  const at::NoGradGuard no_gradient;
  if (dist::IsShared(options.group)) return SharedEmbeddings(model, batch, options);
  Prepare(model, options, tensor::Passes::kForward);
  return options.chunk_tokens > 0 ? EncodeInChunks(model, batch, options)
                                  : EncodeWhole(model, batch, options.forward);
}

}  // namespace

TrainingObjective MakeTrainingObjective(const config::ObjectiveRecipe& recipe) {
  return {.loss = objective::MakeObjective(recipe.name, recipe.params),
          .needs = objective::FindObjective(recipe.name).needs(recipe.params),
          .similarity = objective::SimilarityOf(recipe.params, objective::kSimilarityWithoutModel),
          .false_negative_rules = {}};
}

ObjectiveStates StartingStates(const config::ObjectiveRecipe& recipe) {
  return ObjectiveStates(objective::FindObjective(recipe.name).StatesOf(recipe.params));
}

std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model,
                                                   const ObjectiveStates& states) {
  std::vector<model::NamedParameter> saved = model::TrainedOf(model.Parameters());
  for (model::NamedParameter& number : states.Numbers()) saved.push_back(std::move(number));
  return saved;
}

StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                            const TrainingObjective& objective, ObjectiveStates states,
                            const StepOptions& options) {
  if (dist::IsShared(options.group)) {
    return SharedForwardBackward(model, batch, objective, std::move(states), options);
  }
  if (options.chunk_tokens > 0) {
    return CachedForwardBackward(model, batch, objective, std::move(states), options);
  }
  // Where no further batch needs the copies for the forward pass, those for the backward pass
  // replace them.
  Prepare(model, options, options.weights_stay ? tensor::Passes::kBoth : tensor::Passes::kForward);
  TrainingLoss loss = JudgeForTraining(EncodeWhole(model, batch, options.forward), batch, objective,
                                       std::move(states), options);
  if (!options.weights_stay) Prepare(model, options, tensor::Passes::kBackward);
  BackPropagate(loss.value);
  return std::move(loss.outcome);
}

BatchOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch,
                     const TrainingObjective& objective, const ObjectiveStates& states,
                     const StepOptions& options) {
  StepOptions plain = options;
  plain.forward.training = false;
  const at::NoGradGuard no_gradient;
  const at::Tensor embeddings = EncodeWithoutGradient(model, batch, plain);
  const tensor::ProfileScope scope("scores and loss");
  ScoredBatch scored = ScoreBatch(embeddings, batch, objective, /*training=*/false);
  return LossOf(scored, objective, states.View(/*with_bank=*/false)).outcome;
}

double StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                    const TrainingObjective& objective, const ObjectiveStates& states,
                    const StepOptions& options) {
  const at::NoGradGuard no_gradient;
  const ScoredBatch scored = ScoreBatch(EncodeWithoutGradient(model, batch, options), batch,
                                        objective, options.forward.training);
  return objective.loss->StartingBias(scored.widths.front().scores, scored.labels,
                                      states.View(/*with_bank=*/false));
}

}  // namespace tandem::train
