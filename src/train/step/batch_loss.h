// Computes the loss of a batch from its embeddings: scores, false-negative filter, loss. How the
// embeddings are made is decided elsewhere (train/step/encode_batch.h).
//
// Scores are computed on the embeddings' device, and masks are copied there once for each batch,
// after the filter. objective::Forms says what the objective then computes on which device.
// Cosines, losses of queries, sums of scores and the scores that a bank takes are copied back to
// the host; the filter alone needs all scores of the first width there.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/process_group.h"
#include "objective/matryoshka.h"
#include "objective/objective.h"
#include "tensor/core/tensor.h"
#include "train/objective/training_objective.h"
#include "train/step/batch.h"
#include "train/step/step_types.h"

namespace tandem::train {

// The scores of some queries of a batch with all of its documents, and the labels that the
// false-negative filter has left.
struct ScoredBatch {
  std::vector<objective::WeighedScores> widths;  // at least one
  objective::Labels labels;                      // on the host
  objective::Labels labels_of_device;            // the same, their masks where the scores are
  int64_t negatives = 0;                         // before the filter
  int64_t false_negatives = 0;                   // negatives that the filter took out
  int64_t same_tower_masked = 0;                 // same-tower cells that their filter took out
  std::vector<float> cosines;                    // of all queries and their paired documents

  // Returns the scores by which the filter and the score bank compare the documents of a query.
  const tensor::Tensor& first_scores() const { return widths.front().scores.query_document; }
};

// Returns the cosine of each query and its paired document, [Q], at the whole width.
std::vector<float> CosinesOf(const tensor::Tensor& embeddings, const TrainingBatch& batch);

// Scores queries `rows` of the batch, whose `embeddings` [Q + D, E] are in its order. With
// `training`, uses the widths, the filter and the weights of queries. `rows` may be a part of the
// queries only if the objective is separable by row (objective::Needs), and the batch must have
// their masks.
ScoredBatch ScoreBatch(const tensor::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training, dist::Share rows);
// Scores all queries.
ScoredBatch ScoreBatch(const tensor::Tensor& embeddings, const TrainingBatch& batch,
                       const TrainingObjective& objective, bool training);

struct BatchLoss {
  tensor::Tensor value;  // 0-dimensional, differentiable
  BatchOutcome outcome;
};

// Computes the loss. Moves the cosines out of `batch`. Throws NumericError if scores or the loss
// are not finite.
BatchLoss LossOf(ScoredBatch& batch, const TrainingObjective& objective,
                 const objective::States& states);

// Returns the sum and the number of the cells of each score matrix, float64 [widths, 3, 2]:
// query_document, query_query and document_document of each width; 0 for a matrix that is not
// there.
tensor::Tensor ScoreSums(const ScoredBatch& batch);
// Returns the loss of a model for which all cells of a matrix have the mean score, which `sums`
// give.
double EqualScoresLoss(const ScoredBatch& batch, const tensor::Tensor& sums,
                       const TrainingObjective& objective, const objective::States& states);

// The start of a training step's backward pass, and the outcome of the step.
struct TrainingLoss {
  tensor::Tensor value;     // the loss times options.weight, or another tensor with `gradient`
  tensor::Tensor gradient;  // d loss / d value; undefined: 1
  StepOutcome outcome;
};
TrainingLoss LossForTraining(const tensor::Tensor& embeddings, const TrainingBatch& batch,
                             const TrainingObjective& objective, ObjectiveStates states,
                             const StepOptions& options);

}  // namespace tandem::train
