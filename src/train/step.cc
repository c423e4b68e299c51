#include "train/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "objective/similarity.h"
#include "tensor/profile.h"

namespace tandem::train {
namespace {

struct Judged {
  at::Tensor loss;  // 0-dimensional
  StepOutcome outcome;
};

// A training step's states: the first batch says where an open bias starts.
objective::States StatesFor(const objective::Scores& scores, const objective::Labels& labels,
                            const Goal& goal, bool training) {
  if (goal.states == nullptr) return {};
  if (training && goal.states->bias_is_open()) {
    goal.states->StartBias(
        goal.objective->StartingBias(scores, labels, goal.states->View(/*with_bank=*/false)));
  }
  return goal.states->View(training);
}

// Everything behind the encoder: embeddings [Q + D, E] to the loss.
Judged Judge(const at::Tensor& embeddings, const TrainingBatch& batch, const Goal& goal,
             bool training) {
  const tensor::ProfileScope scope("scores and loss");
  const at::Tensor queries = embeddings.narrow(0, 0, batch.queries);
  const at::Tensor documents = embeddings.narrow(0, batch.queries, batch.documents);
  const objective::Scores scores = objective::SimilarityScores(
      queries, documents, batch.labels.positive, goal.similarity, goal.needs);
  objective::Labels labels = batch.labels;
  const int64_t filtered = FilterFalseNegatives(scores.query_document, goal.filter, labels);
  const objective::Loss loss =
      goal.objective->Evaluate(scores, labels, StatesFor(scores, labels, goal, training));
  if (training && goal.states != nullptr) goal.states->Keep(scores.query_document, labels);
  Judged judged{loss.value,
                {.loss = loss.value.item<double>(),
                 .count = loss.count,
                 .false_negatives = filtered,
                 .cosines = {}}};
  if (!std::isfinite(judged.outcome.loss)) {
    throw NumericError(fmt::format("the loss is {}", judged.outcome.loss));
  }
  const at::NoGradGuard no_gradient;
  const at::Tensor cosines =
      at::cosine_similarity(queries, documents.narrow(0, 0, batch.queries)).contiguous();
  const auto* values = static_cast<const float*>(cosines.data_ptr());
  judged.outcome.cosines.assign(values, values + batch.queries);
  return judged;
}

// Texts [begin, end), which are of one kind unless one encoder takes both.
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

// Calls `body` for consecutive ranges of texts of at most `limit` tokens, or one text; none holds
// texts of both kinds where they have encoders of their own.
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

// The operations' own backward passes are profiled by themselves; the rest is the graph, the
// scores, and adding gradients up.
void BackPropagate(const at::Tensor& value, const at::Tensor& gradient = {}) {
  const tensor::ProfileScope scope("backward of scores, graph");
  value.backward(gradient);
}

StepOutcome CachedForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                  const Goal& goal, const StepOptions& options) {
  const at::Tensor embeddings = EncodeInChunks(model, batch, options).requires_grad_(true);
  Judged judged = Judge(embeddings, batch, goal, /*training=*/true);
  BackPropagate(judged.loss);
  const at::Tensor gradient = embeddings.grad();
  ForEachChunk(model, batch, options.chunk_tokens, [&](int64_t begin, int64_t end) {
    BackPropagate(EncodeRange(model, batch, begin, end, options.forward),
                  gradient.narrow(0, begin, end - begin));
  });
  return std::move(judged.outcome);
}

}  // namespace

Goal MakeGoal(const config::ObjectiveRecipe& recipe) {
  const objective::ObjectiveInfo& info = objective::FindObjective(recipe.name);
  const objective::StatePlan states = info.StatesOf(recipe.params);
  return {.objective = objective::MakeObjective(recipe.name, recipe.params),
          .needs = info.needs(recipe.params),
          .similarity = recipe.params.String("similarity_kind"),
          .states = states.any() ? std::make_unique<ObjectiveStates>(states) : nullptr};
}

std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model, const Goal& goal) {
  std::vector<model::NamedParameter> saved = model.Parameters();
  if (goal.states != nullptr) {
    for (model::NamedParameter& number : goal.states->Numbers()) saved.push_back(std::move(number));
  }
  return saved;
}

StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                            const StepOptions& options) {
  if (options.chunk_tokens > 0) return CachedForwardBackward(model, batch, goal, options);
  Judged judged = Judge(EncodeWhole(model, batch, options.forward), batch, goal, /*training=*/true);
  BackPropagate(judged.loss);
  return std::move(judged.outcome);
}

StepOutcome Forward(model::DualEncoder& model, const TrainingBatch& batch, const Goal& goal,
                    const StepOptions& options) {
  const at::NoGradGuard no_gradient;
  StepOptions plain = options;
  plain.forward.training = false;
  const at::Tensor embeddings = options.chunk_tokens > 0 ? EncodeInChunks(model, batch, plain)
                                                         : EncodeWhole(model, batch, plain.forward);
  return Judge(embeddings, batch, goal, /*training=*/false).outcome;
}

}  // namespace tandem::train
