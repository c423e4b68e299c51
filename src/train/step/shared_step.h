// The step of a batch that several processes make together.
//
// Every process has the same plan of the batch. It encodes its share of the texts, with about as
// many tokens as those of the others, and receives the embeddings of all. If the objective is
// separable by row, each process scores its share of the queries against all documents; else it
// scores all queries, whose cost is small compared with the encoder's. The gradients of the
// embeddings are sent back to the process that encoded the text, which continues the backward pass
// through its own part of the graph.
#pragma once

#include <memory>
#include <vector>

#include "tensor/core/tensor.h"
#include "train/step/local_step.h"

namespace tandem::train {

// The texts that each process encodes: shares of the queries and of the documents, in the order of
// ranks.
struct TextShares {
  std::vector<dist::Share> queries;
  std::vector<dist::Share> documents;
};

// Makes consecutive shares, each with about the same number of tokens of queries and documents
// together. If a batch has few texts, some processes get none.
TextShares ShareTexts(const TrainingBatch& batch, int ranks);

// The outcome is that of the whole batch, the same on every process: all compute the same loss,
// feedback and states. Gradients are those of the process's own texts, until the reducer adds them
// up. If one process finds a score that is not finite, all throw NumericError.
class SharedStep final : public Step {
 public:
  // `local` makes the forward and backward passes of this process's part of the texts. The group
  // must have several processes and outlive the step.
  SharedStep(std::unique_ptr<const LocalStep> local, dist::ProcessGroup& group)
      : local_(std::move(local)), group_(group) {}

  StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                              const TrainingObjective& objective, ObjectiveStates states,
                              const StepOptions& options) const override;
  // Returns all embeddings on every process.
  tensor::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                        const model::ForwardOptions& options) const override;
  // Returns this process's share if the objective is separable by row, else all queries.
  dist::Share ScoredQueries(int64_t queries, const TrainingObjective& objective) const override;

 private:
  std::unique_ptr<const LocalStep> local_;
  dist::ProcessGroup& group_;
};

}  // namespace tandem::train
