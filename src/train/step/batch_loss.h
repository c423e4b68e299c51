// What a batch's embeddings are worth: scores, the false-negative filter, the loss. How the
// embeddings came to be is not seen here (train/step/encode_batch.h).
//
// Scores are made where the embeddings are, and masks are moved there once for each batch. What the
// objective then computes where, objective::Forms says. Cosines, losses of queries and sums of
// scores come back to the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "dist/process_group.h"
#include "objective/matryoshka.h"
#include "objective/objective.h"
#include "train/objective/training_objective.h"
#include "train/step/batch.h"
#include "train/step/step_types.h"

namespace tandem::train {

// The scores of some queries of a batch with all of its documents, and what the false-negative
// filter has left of their labels.
struct ScoredBatch {
  std::vector<objective::WeighedScores> widths;  // at least one
  objective::Labels labels;
  int64_t negatives = 0;        // before the filter
  int64_t false_negatives = 0;  // that the filter took out
  std::vector<float> cosines;   // of all queries and their paired documents

  // The scores that say which documents a query likes best.
  const at::Tensor& first_scores() const { return widths.front().scores.query_document; }
};

// [Q]: of each query and its paired document, at the whole width.
std::vector<float> CosinesOf(const at::Tensor& embeddings, const TrainingBatch& batch);

// Scores queries `rows` of the batch, of which `embeddings` [Q + D, E] are in its order.
// `training`: with widths, filter and weights of queries. Only an objective that is separable by
// row takes a part of them (objective::Needs); the batch has their masks.
ScoredBatch ScoreBatch(const at::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training, dist::Share rows);
// All queries.
ScoredBatch ScoreBatch(const at::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training);

struct BatchLoss {
  at::Tensor value;  // 0-dimensional, differentiable
  BatchOutcome outcome;
};

// Takes the cosines out of `batch`. Throws NumericError where scores or the loss are not finite.
BatchLoss LossOf(ScoredBatch& batch, const TrainingObjective& objective,
                 const objective::States& states);

// The sum of a matrix's cells and their number, float64 [widths, 3, 2]: of each width's
// query_document, query_query and document_document; 0 where there is none.
at::Tensor ScoreSums(const ScoredBatch& batch);
// The loss of a model that gives all cells of a matrix their mean, as `sums` say.
double EqualScoresLoss(const ScoredBatch& batch, const at::Tensor& sums,
                       const TrainingObjective& objective, const objective::States& states);

// What the backward pass of a training step begins with, and the outcome of the step.
struct TrainingLoss {
  at::Tensor value;     // the loss times options.weight, or what else has `gradient`
  at::Tensor gradient;  // d loss / d value; undefined: 1
  StepOutcome outcome;
};
TrainingLoss LossForTraining(const at::Tensor& embeddings, const TrainingBatch& batch,
                             const TrainingObjective& objective, ObjectiveStates states,
                             const StepOptions& options);

}  // namespace tandem::train
