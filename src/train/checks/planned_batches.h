// Plans the batches of a run with its sampler, to find out how large they are and which tokens they
// read. Encodes nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/batch.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// The ids of the tokens that an encoder reads, each once.
class SeenTokens {
 public:
  void Add(const TokenStore& texts, size_t text);
  void Add(const SeenTokens& other);
  std::vector<int64_t> Rows() const;  // ascending

 private:
  void Mark(size_t id);

  std::vector<int32_t> ids_;
  std::vector<bool> seen_texts_;
  std::vector<bool> tokens_;
};

struct PlannedBatches {
  sampling::Batch largest;  // the batch with the most tokens
  int64_t largest_tokens = 0;
  SeenTokens queries;
  SeenTokens documents;

  // The rows of an embedding table that the batches read. `name` is the parameter's name.
  std::vector<int64_t> RowsOf(const model::DualEncoder& model, const std::string& name) const;
};

// Plans the batches of the run, at most `most` of them, and then restores the sampler's state.
// Random documents stand in for those that the run will mine.
PlannedBatches LookAtBatches(const Trainer& trainer, const RunPlan& plan, int64_t most);

}  // namespace tandem::train
