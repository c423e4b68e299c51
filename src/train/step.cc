#include "train/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/full_like.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "objective/common_params.h"
#include "objective/matryoshka.h"
#include "tensor/profile.h"

namespace tandem::train {
namespace {

// The scores of a batch, with the labels that the false-negative filter has left.
struct ScoredBatch {
  std::vector<objective::WeighedScores> widths;  // at least one
  objective::Labels labels;
  int64_t negatives = 0;        // before the filter
  int64_t false_negatives = 0;  // that the filter took out
  std::vector<float> cosines;
};

struct BatchLoss {
  at::Tensor value;  // 0-dimensional
  BatchOutcome outcome;
};

// The scores that say which documents a query likes best.
const at::Tensor& FirstScores(const ScoredBatch& batch) {
  return batch.widths.front().scores.query_document;
}

// A negative above the filter's bounds is likely relevant, so that a training step leaves it out.
void Filter(const FalseNegativeRules& rules, ScoredBatch& batch) {
  if (!rules.enabled()) return;
  batch.negatives = batch.labels.negative.sum().item<int64_t>();
  batch.false_negatives = FilterFalseNegatives(FirstScores(batch), rules, batch.labels);
}

// Queries and documents in the order of the batch: embeddings [Q + D, E].
ScoredBatch ScoresOf(const at::Tensor& embeddings, const TrainingBatch& batch,
                     const TrainingObjective& objective, bool training) {
  const at::Tensor queries = embeddings.narrow(0, 0, batch.queries);
  const at::Tensor documents = embeddings.narrow(0, batch.queries, batch.documents);
  ScoredBatch scored{.widths = objective::ScoresAtWidths(
                         queries, documents, batch.labels, objective.similarity, objective.needs,
                         training ? objective.widths : std::vector<objective::Width>()),
                     .labels = batch.labels,
                     .cosines = {}};
  if (training) {
    Filter(objective.false_negative_rules, scored);
  } else {
    scored.labels.weights.clear();
  }
  const at::NoGradGuard no_gradient;
  const at::Tensor cosines =
      at::cosine_similarity(queries, documents.narrow(0, 0, batch.queries)).contiguous();
  const auto* values = static_cast<const float*>(cosines.data_ptr());
  scored.cosines.assign(values, values + batch.queries);
  return scored;
}

// The same scores with every cell at the mean of its matrix.
at::Tensor Equal(const at::Tensor& scores) {
  return scores.defined() ? at::full_like(scores, scores.mean().item<double>()) : scores;
}

double EqualScoresLoss(const ScoredBatch& batch, const TrainingObjective& objective,
                       const objective::States& states) {
  const at::NoGradGuard no_gradient;
  std::vector<objective::WeighedScores> equal;
  for (const auto& [scores, weight] : batch.widths) {
    equal.push_back({{.query_document = Equal(scores.query_document),
                      .query_query = Equal(scores.query_query),
                      .document_document = Equal(scores.document_document)},
                     weight});
  }
  return objective::EvaluateWidths(*objective.loss, equal, batch.labels, states)
      .value.item<double>();
}

BatchLoss LossOf(ScoredBatch& batch, const TrainingObjective& objective,
                 const objective::States& states) {
  const objective::Loss loss =
      objective::EvaluateWidths(*objective.loss, batch.widths, batch.labels, states);
  BatchLoss result{loss.value,
                   {.loss = loss.value.item<double>(),
                    .count = loss.count,
                    .negatives = batch.negatives,
                    .false_negatives = batch.false_negatives,
                    .cosines = std::move(batch.cosines),
                    .losses = {loss.losses.begin(), loss.losses.end()}}};
  if (!std::isfinite(result.outcome.loss)) {
    throw NumericError(fmt::format("the loss is {}", result.outcome.loss));
  }
  return result;
}

// The loss of a training step, and the states after it.
struct TrainingLoss {
  at::Tensor value;
  StepOutcome outcome;
};

TrainingLoss TrainingLossOf(const at::Tensor& embeddings, const TrainingBatch& batch,
                            const TrainingObjective& objective, ObjectiveStates states,
                            const StepOptions& options) {
  const tensor::ProfileScope scope("scores and loss");
  ScoredBatch scored = ScoresOf(embeddings, batch, objective, /*training=*/true);
  // Computed before the loss: beside the loss's gradient, which takes as much memory, it would
  // raise the peak.
  const double equal_scores_loss =
      options.with_equal_scores_loss
          ? EqualScoresLoss(scored, objective, states.View(/*with_bank=*/false))
          : 0;
  BatchLoss loss = LossOf(scored, objective, states.View(/*with_bank=*/true));
  loss.outcome.equal_scores_loss = equal_scores_loss;
  states.Keep(FirstScores(scored), scored.labels);
  // Multiplied only where it changes something: a step of one batch keeps its rounding.
  if (options.weight != 1) loss.value = loss.value.mul(options.weight);
  return {loss.value, {std::move(loss.outcome), std::move(states)}};
}

// Packs the weights of both towers.
void Prepare(model::DualEncoder& model, const StepOptions& options, tensor::Passes passes) {
  for (const model::TextKind kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
    model.Prepare(kind, options.forward.precision, passes);
  }
}

// Embeddings of texts [begin, end). With two encoders these must be of one kind.
at::Tensor EncodeRange(model::DualEncoder& model, const TrainingBatch& batch, int64_t begin,
                       int64_t end, const model::ForwardOptions& options) {
  const auto kind = begin < batch.queries ? model::TextKind::kQuery : model::TextKind::kDocument;
  return model.Encode(batch.Pack(begin, end), kind, options);
}

at::Tensor EncodeWhole(model::DualEncoder& model, const TrainingBatch& batch,
                       const model::ForwardOptions& options) {
  if (model.shared()) return EncodeRange(model, batch, 0, batch.texts(), options);
  return at::cat({EncodeRange(model, batch, 0, batch.queries, options),
                  EncodeRange(model, batch, batch.queries, batch.texts(), options)});
}

// Calls `body` for consecutive ranges of texts that cover the batch. A range has at most `limit`
// tokens, or is a single text. With two encoders a range has texts of one kind.
void ForEachChunk(const model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                  const std::function<void(int64_t begin, int64_t end)>& body) {
  for (int64_t begin = 0; begin < batch.texts();) {
    const bool stop_at_documents = !model.shared() && begin < batch.queries;
    const int64_t most = stop_at_documents ? batch.queries : batch.texts();
    int64_t end = begin + 1, tokens = batch.length(begin);
    while (end < most && tokens + batch.length(end) <= limit) tokens += batch.length(end++);
    body(begin, end);
    begin = end;
  }
}

at::Tensor EncodeInChunks(model::DualEncoder& model, const TrainingBatch& batch,
                          const StepOptions& options) {
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> chunks;
  ForEachChunk(model, batch, options.chunk_tokens, [&](int64_t begin, int64_t end) {
    chunks.push_back(EncodeRange(model, batch, begin, end, options.forward));
  });
  return at::cat(chunks);
}

// Each operation counts its own backward pass in a profile. This scope counts the rest: walking the
// graph, the scores' backward pass, and adding gradients up.
void BackPropagate(const at::Tensor& value, const at::Tensor& gradient = {}) {
  const tensor::ProfileScope scope("backward of scores, graph");
  value.backward(gradient);
}

StepOutcome CachedForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                  const TrainingObjective& objective, ObjectiveStates states,
                                  const StepOptions& options) {
  Prepare(model, options, tensor::Passes::kBoth);
  const at::Tensor embeddings = EncodeInChunks(model, batch, options).requires_grad_(true);
  TrainingLoss loss = TrainingLossOf(embeddings, batch, objective, std::move(states), options);
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
  if (options.chunk_tokens > 0) {
    return CachedForwardBackward(model, batch, objective, std::move(states), options);
  }
  // Where no further batch needs the copies for the forward pass, those for the backward pass
  // replace them.
  Prepare(model, options, options.weights_stay ? tensor::Passes::kBoth : tensor::Passes::kForward);
  TrainingLoss loss = TrainingLossOf(EncodeWhole(model, batch, options.forward), batch, objective,
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
  ScoredBatch scored = ScoresOf(embeddings, batch, objective, /*training=*/false);
  return LossOf(scored, objective, states.View(/*with_bank=*/false)).outcome;
}

double StartingBias(model::DualEncoder& model, const TrainingBatch& batch,
                    const TrainingObjective& objective, const ObjectiveStates& states,
                    const StepOptions& options) {
  const at::NoGradGuard no_gradient;
  const ScoredBatch scored = ScoresOf(EncodeWithoutGradient(model, batch, options), batch,
                                      objective, options.forward.training);
  return objective.loss->StartingBias(scored.widths.front().scores, scored.labels,
                                      states.View(/*with_bank=*/false));
}

}  // namespace tandem::train
