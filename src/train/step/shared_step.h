// The step of a batch that several processes make together.
//
// Every process has the same plan of the batch. It encodes its share of the texts, about the same
// number of tokens as the others, and all get all embeddings. Where the objective is separable by
// row each process scores its share of the queries against all documents, else all of them, whose
// cost is small beside the encoder's. The gradients of the embeddings go back to the process that
// encoded the text, which goes back through its own part of the graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "train/step/local_step.h"

namespace tandem::train {

// The texts of each process: shares of the queries and of the documents, in the order of ranks.
struct TextShares {
  std::vector<dist::Share> queries;
  std::vector<dist::Share> documents;
};

// Consecutive shares, each of about the same number of tokens, queries and documents together. Of a
// batch with few texts some processes have none.
TextShares ShareTexts(const TrainingBatch& batch, int ranks);

// The outcome is that of the whole batch, the same on every process: all come to the same loss,
// feedback and states. Gradients are those of the process's own texts, until the reducer adds them
// up. Where one process finds a score that is not finite, all throw NumericError.
class SharedStep final : public Step {
 public:
  // `local` takes this process's part of the texts forward and back. The group has several
  // processes and outlives the step.
  SharedStep(std::unique_ptr<const LocalStep> local, dist::ProcessGroup& group)
      : local_(std::move(local)), group_(group) {}

  StepOutcome ForwardBackward(model::DualEncoder& model, const TrainingBatch& batch,
                              const TrainingObjective& objective, ObjectiveStates states,
                              const StepOptions& options) const override;
  // On every process.
  at::Tensor Encode(model::DualEncoder& model, const TrainingBatch& batch,
                    const model::ForwardOptions& options) const override;
  // The process's share where the objective is separable by row, else all.
  dist::Share ScoredQueries(int64_t queries, const TrainingObjective& objective) const override;

 private:
  std::unique_ptr<const LocalStep> local_;
  dist::ProcessGroup& group_;
};

}  // namespace tandem::train
