// The batches that a run will make, as its sampler plans them: how large they are, and which tokens
// they read. Nothing is encoded.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/batch.h"
#include "train/setup/trainer.h"

namespace tandem::train {

// Ids of the tokens that a tower reads, each once.
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
  sampling::Batch largest;  // by tokens
  int64_t largest_tokens = 0;
  SeenTokens queries;
  SeenTokens documents;

  // The rows that the batches read of a parameter that is a table, by its name.
  std::vector<int64_t> RowsOf(const model::DualEncoder& model, const std::string& name) const;
};

// Looks at the run's batches, at most so many. Puts the sampler back to where it was. Documents at
// random stand for those that the run will mine.
PlannedBatches LookAtBatches(const Trainer& trainer, const RunPlan& plan, int64_t most);

}  // namespace tandem::train
