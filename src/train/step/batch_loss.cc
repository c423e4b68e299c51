#include "train/step/batch_loss.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.h"
#include "tensor/profile/profile.h"

namespace tandem::train {
namespace {

// Takes negatives with scores above the filter's bounds out of a training step, because they are
// likely relevant.
void Filter(const FalseNegativeRules& rules, ScoredBatch& batch) {
  if (!rules.enabled()) return;
  batch.negatives = batch.labels.negative.sum().item<int64_t>();
  batch.false_negatives = FilterFalseNegatives(batch.first_scores(), rules, batch.labels);
}

objective::LabelledCells RowsOf(const objective::LabelledCells& all, dist::Share rows) {
  if (all.empty()) return {};
  const auto part = [&rows](const auto& values) {
    return std::decay_t<decltype(values)>(values.begin() + rows.begin, values.begin() + rows.end);
  };
  objective::LabelledCells some{.own_grades = part(all.own_grades),
                                .own_teachers = part(all.own_teachers)};
  const int64_t first = all.row_starts[static_cast<size_t>(rows.begin)];
  const int64_t last = all.row_starts[static_cast<size_t>(rows.end)];
  some.cells.assign(all.cells.begin() + first, all.cells.begin() + last);
  for (int64_t row = rows.begin; row <= rows.end; ++row) {
    some.row_starts.push_back(all.row_starts[static_cast<size_t>(row)] - first);
  }
  return some;
}

// Returns the labels of some rows, for which the batch must have masks.
objective::Labels RowsOf(const TrainingBatch& batch, dist::Share rows) {
  const objective::Labels& all = batch.labels;
  if (rows.size() == batch.queries) return all;
  const auto masks = [&](const at::Tensor& matrix) {
    return matrix.defined() ? matrix.narrow(0, rows.begin - batch.masked.begin, rows.size())
                            : matrix;
  };
  objective::Labels some{.positive = all.positive.narrow(0, rows.begin, rows.size()),
                         .negative = masks(all.negative),
                         .query_negative = masks(all.query_negative),
                         .document_negative = masks(all.document_negative),
                         .labelled = RowsOf(all.labelled, rows)};
  if (!all.weights.empty()) {
    some.weights.assign(all.weights.begin() + rows.begin, all.weights.begin() + rows.end);
  }
  return some;
}

// Returns the labels with their masks on the device of the scores; labelled cells and weights stay
// on the host.
objective::Labels OnDevice(objective::Labels labels, at::Device device) {
  for (at::Tensor* tensor :
       {&labels.positive, &labels.negative, &labels.query_negative, &labels.document_negative}) {
    if (tensor->defined()) *tensor = tensor->to(device);
  }
  return labels;
}

std::vector<at::Tensor> MatricesOf(const objective::Scores& scores) {
  return {scores.query_document, scores.query_query, scores.document_document};
}

}  // namespace

std::vector<float> CosinesOf(const at::Tensor& embeddings, const TrainingBatch& batch) {
  const at::NoGradGuard no_gradient;
  const at::Tensor cosines =
      at::cosine_similarity(embeddings.narrow(0, 0, batch.queries),
                            embeddings.narrow(0, batch.queries, batch.queries))
          .to(at::kCPU)
          .contiguous();
  const auto* values = static_cast<const float*>(cosines.data_ptr());
  return {values, values + batch.queries};
}

ScoredBatch ScoreBatch(const at::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training, dist::Share rows) {
  const at::Tensor queries = embeddings.narrow(0, 0, batch.queries);
  const at::Tensor documents = embeddings.narrow(0, batch.queries, batch.documents);
  ScoredBatch scored{.labels = OnDevice(RowsOf(batch, rows), embeddings.device())};
  scored.widths = objective::ScoresAtWidths(
      queries.narrow(0, rows.begin, rows.size()), documents, scored.labels, objective.similarity,
      objective.needs, training ? objective.widths : std::vector<objective::Width>(),
      rows.size() == batch.queries ? objective::WholeBatch()
                                   : objective::WholeBatch{queries, batch.labels.positive});
  if (training) {
    Filter(objective.false_negative_rules, scored);
  } else {
    scored.labels.weights.clear();
  }
  scored.cosines = CosinesOf(embeddings, batch);
  return scored;
}

ScoredBatch ScoreBatch(const at::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training) {
  return ScoreBatch(embeddings, batch, objective, training, {0, batch.queries});
}

at::Tensor ScoreSums(const ScoredBatch& batch) {
  const at::Tensor sums = at::zeros({std::ssize(batch.widths), 3, 2}, at::kDouble);
  for (int64_t width = 0; width < sums.size(0); ++width) {
    const auto matrices = MatricesOf(batch.widths[static_cast<size_t>(width)].scores);
    for (int64_t i = 0; i < 3; ++i) {
      const at::Tensor& matrix = matrices[static_cast<size_t>(i)];
      if (!matrix.defined()) continue;
      sums[width][i][0].fill_(matrix.sum().item<double>());
      sums[width][i][1].fill_(static_cast<double>(matrix.numel()));
    }
  }
  return sums;
}

double EqualScoresLoss(const ScoredBatch& batch, const at::Tensor& sums,
                       const TrainingObjective& objective, const objective::States& states) {
  const at::NoGradGuard no_gradient;
  const auto sum = sums.accessor<double, 3>();
  std::vector<objective::WeighedScores> equal;
  for (int64_t width = 0; width < sums.size(0); ++width) {
    const auto& [scores, weight] = batch.widths[static_cast<size_t>(width)];
    const auto mean = [&](const at::Tensor& matrix, int64_t i) {
      return matrix.defined() ? at::full_like(matrix, sum[width][i][0] / sum[width][i][1]) : matrix;
    };
    equal.push_back({{.query_document = mean(scores.query_document, 0),
                      .query_query = mean(scores.query_query, 1),
                      .document_document = mean(scores.document_document, 2)},
                     weight});
  }
  return objective::EvaluateWidths(*objective.loss, equal, batch.labels, states)
      .value.item<double>();
}

namespace {

// Whether no query has an allowed negative. Looks at the mask only if the loss is 0, which is rare.
bool LacksNegatives(double loss, const TrainingObjective& objective, const ScoredBatch& batch) {
  if (loss != 0 || !objective.needs.negatives) return false;
  const at::Tensor& negative = batch.labels.negative;
  return !negative.defined() || !negative.any().item<bool>();
}

}  // namespace

BatchLoss LossOf(ScoredBatch& batch, const TrainingObjective& objective,
                 const objective::States& states) {
  const objective::Loss loss =
      objective::EvaluateWidths(*objective.loss, batch.widths, batch.labels, states);
  BatchLoss result{loss.value,
                   {.loss = loss.value.item<double>(),
                    .count = loss.count,
                    .negatives = batch.negatives,
                    .false_negatives = batch.false_negatives,
                    .lacks_negatives = LacksNegatives(loss.value.item<double>(), objective, batch),
                    .cosines = std::move(batch.cosines),
                    .losses = {loss.losses.begin(), loss.losses.end()}}};
  if (!std::isfinite(result.outcome.loss)) {
    throw NumericError(fmt::format("the loss is {}", result.outcome.loss));
  }
  return result;
}

TrainingLoss LossForTraining(const at::Tensor& embeddings, const TrainingBatch& batch,
                             const TrainingObjective& objective, ObjectiveStates states,
                             const StepOptions& options) {
  const tensor::ProfileScope scope("scores and loss");
  ScoredBatch scored = ScoreBatch(embeddings, batch, objective, /*training=*/true);
  // Computed before the loss, because the loss's gradient takes as much memory, and both together
  // would raise the peak.
  const double equal_scores_loss =
      options.with_equal_scores_loss
          ? EqualScoresLoss(scored, ScoreSums(scored), objective, states.View(/*with_bank=*/false))
          : 0;
  BatchLoss loss = LossOf(scored, objective, states.View(/*with_bank=*/true));
  loss.outcome.equal_scores_loss = equal_scores_loss;
  states.Keep(scored.first_scores(), scored.labels);
  // A weight of 1 is not multiplied with, so that a step of one batch keeps its rounding.
  if (options.weight != 1) loss.value = loss.value.mul(options.weight);
  return {
      .value = loss.value, .gradient = {}, .outcome = {std::move(loss.outcome), std::move(states)}};
}

}  // namespace tandem::train
