// The step of a batch that several processes make together.
//
// Every process has the same plan of the batch. It encodes its share of the texts, about the same
// number of tokens as the others, and all get all embeddings. Where the objective is separable by
// row each process judges its share of the queries against all documents, else all of them, whose
// cost is small beside the encoder's. The gradients of the embeddings go back to the process that
// encoded the text, which goes back through its own part of the graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/dual_encoder.h"
#include "train/step/batch.h"
#include "train/step/step.h"

namespace tandem::train {

// The texts of each process: shares of the queries and of the documents, in the order of ranks.
struct TextShares {
  std::vector<dist::Share> queries;
  std::vector<dist::Share> documents;
};

// Consecutive shares, each of about the same number of tokens, queries and documents together. Of a
// batch with few texts some processes have none.
TextShares ShareTexts(const TrainingBatch& batch, int ranks);

// The queries that this process judges: its share where the objective is separable by row, else
// all.
dist::Share JudgedQueries(int64_t queries, const TrainingObjective& objective,
                          const dist::ProcessGroup& group);

// The embeddings of the whole batch on every process, [Q + D, E], without gradient.
at::Tensor SharedEmbeddings(model::DualEncoder& model, const TrainingBatch& batch,
                            const StepOptions& options);

// ForwardBackward (train/step/step.h) of a group: the outcome is that of the whole batch, the same
// on every process. Gradients are those of the process's own texts, until the reducer adds them up.
// Where one process finds a score that is not finite, all throw NumericError.
StepOutcome SharedForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                                  const TrainingObjective& objective, ObjectiveStates states,
                                  const StepOptions& options);

}  // namespace tandem::train
