#include "train/step/batch_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"
#include "tensor/profile/profile.h"
#include "tensor/reference/dot.h"
#include "train/step/same_tower_filter.h"

namespace tandem::train {
namespace {

// Returns the number of cells that a mask on the host allows.
int64_t CountAllowed(const tensor::Tensor& mask) {
  const bool* cell = mask.data_ptr<bool>();
  return std::count(cell, cell + mask.numel(), true);
}

// Takes cells with scores above the bounds of the filters out of a training step: negatives that
// are likely relevant, and texts of one tower that lie too near to each other.
void Filter(const TrainingObjective& objective, ScoredBatch& batch) {
  if (objective.same_tower_score) {
    batch.same_tower_masked =
        FilterSameTower(batch.widths.front().scores, *objective.same_tower_score, batch.labels);
  }
  const FalseNegativeRules& rules = objective.false_negative_rules;
  if (!rules.enabled()) return;
  batch.negatives = CountAllowed(batch.labels.negative);
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
  const auto masks = [&](const tensor::Tensor& matrix) {
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
objective::Labels OnDevice(objective::Labels labels, tensor::Device device) {
  for (tensor::Tensor* tensor :
       {&labels.positive, &labels.negative, &labels.query_negative, &labels.document_negative}) {
    *tensor = tensor::MovedTo(*tensor, device);
  }
  return labels;
}

// Vectors shorter than this count as having this length in a cosine.
constexpr double kLeastLength = 1e-8;

// Returns the cosine of each row of a and that of b, float32 [n, E] on the host.
std::vector<float> HostCosines(const tensor::Tensor& a, const tensor::Tensor& b) {
  constexpr int64_t kRowsOfThread = 32;
  const int64_t rows = a.size(0), width = a.size(1);
  const auto *left = a.data_ptr<float>(), *right = b.data_ptr<float>();
  const auto dot = [width](const float* x, const float* y) {
    return tensor::loops::Dot(x, y, width);
  };
  const auto length = [&dot](const float* x) {
    return std::max(kLeastLength, std::sqrt(dot(x, x)));
  };
  std::vector<float> cosines(static_cast<size_t>(rows));
  tensor::ParallelFor(0, rows, kRowsOfThread, [&](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) {
      const float *x = left + i * width, *y = right + i * width;
      cosines[static_cast<size_t>(i)] = static_cast<float>(dot(x, y) / (length(x) * length(y)));
    }
  });
  return cosines;
}

// The same of rows on a device, which the host does not get. The sums are of doubles, since a
// device may round factors of float32 products to fewer bits.
std::vector<float> DeviceCosines(const tensor::Tensor& a, const tensor::Tensor& b) {
  const tensor::Tensor products =
      tensor::Mul(tensor::UnitRows(a, kLeastLength), tensor::UnitRows(b, kLeastLength))
          .to(tensor::kDouble);
  const tensor::Tensor ones =
      tensor::Full({1, products.size(1)}, 1, tensor::kDouble, products.device());
  const tensor::Tensor cosines = tensor::OnCpu(tensor::ProductTransposed(products, ones));
  const auto* cosine = cosines.data_ptr<double>();
  std::vector<float> values(static_cast<size_t>(cosines.numel()));
  std::transform(cosine, cosine + cosines.numel(), values.begin(),
                 [](double value) { return static_cast<float>(value); });
  return values;
}

std::vector<tensor::Tensor> MatricesOf(const objective::Scores& scores) {
  return {scores.query_document, scores.query_query, scores.document_document};
}

}  // namespace

std::vector<float> CosinesOf(const tensor::Tensor& embeddings, const TrainingBatch& batch) {
  const tensor::NoGradGuard no_gradient;
  const tensor::Tensor queries = embeddings.narrow(0, 0, batch.queries);
  const tensor::Tensor documents = embeddings.narrow(0, batch.queries, batch.queries);
  return queries.is_cpu() ? HostCosines(queries, documents) : DeviceCosines(queries, documents);
}

ScoredBatch ScoreBatch(const tensor::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training, dist::Share rows) {
  const tensor::Tensor queries = embeddings.narrow(0, 0, batch.queries);
  const tensor::Tensor documents = embeddings.narrow(0, batch.queries, batch.documents);
  ScoredBatch scored{.labels = RowsOf(batch, rows)};
  scored.widths = objective::ScoresAtWidths(
      queries.narrow(0, rows.begin, rows.size()), documents, scored.labels, objective.similarity,
      objective.needs, training ? objective.widths : std::vector<objective::Width>(),
      rows.size() == batch.queries ? objective::WholeBatch()
                                   : objective::WholeBatch{queries, batch.labels.positive});
  if (training) {
    Filter(objective, scored);
  } else {
    scored.labels.weights.clear();
  }
  scored.labels_of_device = OnDevice(scored.labels, embeddings.device());
  scored.cosines = CosinesOf(embeddings, batch);
  return scored;
}

ScoredBatch ScoreBatch(const tensor::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training) {
  return ScoreBatch(embeddings, batch, objective, training, {0, batch.queries});
}

tensor::Tensor ScoreSums(const ScoredBatch& batch) {
  const tensor::NoGradGuard no_gradient;
  const tensor::Tensor sums = tensor::Zeros({std::ssize(batch.widths), 3, 2}, tensor::kDouble);
  for (int64_t width = 0; width < sums.size(0); ++width) {
    auto* sum = sums[width].data_ptr<double>();  // [3, 2]
    const auto matrices = MatricesOf(batch.widths[static_cast<size_t>(width)].scores);
    for (int64_t i = 0; i < 3; ++i) {
      const tensor::Tensor& matrix = matrices[static_cast<size_t>(i)];
      if (!matrix.defined()) continue;
      sum[2 * i] = tensor::Sum(matrix).item<double>();
      sum[2 * i + 1] = static_cast<double>(matrix.numel());
    }
  }
  return sums;
}

double EqualScoresLoss(const ScoredBatch& batch, const tensor::Tensor& sums,
                       const TrainingObjective& objective, const objective::States& states) {
  const tensor::NoGradGuard no_gradient;
  std::vector<objective::WeighedScores> equal;
  for (int64_t width = 0; width < sums.size(0); ++width) {
    const auto& [scores, weight] = batch.widths[static_cast<size_t>(width)];
    const auto* sum = sums[width].data_ptr<double>();  // [3, 2]
    const auto mean = [sum](const tensor::Tensor& matrix, int64_t i) {
      return matrix.defined() ? tensor::Full(matrix.sizes(), sum[2 * i] / sum[2 * i + 1],
                                             matrix.dtype(), matrix.device())
                              : matrix;
    };
    equal.push_back({{.query_document = mean(scores.query_document, 0),
                      .query_query = mean(scores.query_query, 1),
                      .document_document = mean(scores.document_document, 2)},
                     weight});
  }
  return objective::EvaluateWidths(*objective.loss, equal, batch.labels_of_device, states)
      .value.item<double>();
}

namespace {

// Whether no query has an allowed negative. Looks at the mask only if the loss is 0, which is rare.
bool LacksNegatives(double loss, const TrainingObjective& objective, const ScoredBatch& batch) {
  if (loss != 0 || !objective.needs.negatives) return false;
  const tensor::Tensor& negative = batch.labels.negative;
  return !negative.defined() || CountAllowed(negative) == 0;
}

}  // namespace

BatchLoss LossOf(ScoredBatch& batch, const TrainingObjective& objective,
                 const objective::States& states) {
  const objective::Loss loss =
      objective::EvaluateWidths(*objective.loss, batch.widths, batch.labels_of_device, states);
  BatchLoss result{loss.value,
                   {.loss = loss.value.item<double>(),
                    .count = loss.count,
                    .negatives = batch.negatives,
                    .false_negatives = batch.false_negatives,
                    .same_tower_masked = batch.same_tower_masked,
                    .lacks_negatives = LacksNegatives(loss.value.item<double>(), objective, batch),
                    .cosines = std::move(batch.cosines),
                    .losses = {loss.losses.begin(), loss.losses.end()}}};
  if (!std::isfinite(result.outcome.loss)) {
    throw NumericError(fmt::format("the loss is {}", result.outcome.loss));
  }
  return result;
}

TrainingLoss LossForTraining(const tensor::Tensor& embeddings, const TrainingBatch& batch,
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
  if (options.weight != 1) loss.value = tensor::Mul(loss.value, options.weight);
  return {
      .value = loss.value, .gradient = {}, .outcome = {std::move(loss.outcome), std::move(states)}};
}

}  // namespace tandem::train
